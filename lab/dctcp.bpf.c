// SPDX-License-Identifier: GPL-2.0
/*
 * DCTCP (RFC 8257) as a BPF congestion control, for kernels that are built without it. This file alone is under GPL-2.0: the kernel
 * gives what a congestion control needs to such programs only.
 *
 * A sender estimates which share of its packets is marked (alpha, a moving average over windows) and cuts its window by half of that share in a
 * window with marks; it grows as Reno does. A receiver says at once when marks begin and when they end.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;

/* Macros of the kernel that its type information does not have. */
#define NEEDS_ECN 2
#define ECN_OK 1
#define DEMAND_CWR 4
#define ACK_TIMER 2
#define ACK_NOW 16

/* alpha is counted in parts of 1024, and a new window counts a sixteenth. */
#define WHOLE 1024
#define GAIN 4

struct dctcp_state {
	__u32 alpha;
	__u32 window_end;	/* a window is over when this has been acknowledged */
	__u32 delivered;	/* packets, when the window began */
	__u32 marked;		/* of which marked */
	__u32 cwnd_before;	/* the window before the last cut */
	__u32 told_until;	/* as a receiver: what the last packet but one had acknowledged */
	__u32 marks;		/* as a receiver: the last packet was marked */
};

static struct dctcp_state *state_of(struct sock *sk)
{
	return (struct dctcp_state *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

static void begin_window(const struct tcp_sock *tp, struct dctcp_state *own)
{
	own->window_end = tp->snd_nxt;
	own->delivered = tp->delivered;
	own->marked = tp->delivered_ce;
}

SEC("struct_ops")
void BPF_PROG(dctcp_init, struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct dctcp_state *own = state_of(sk);

	own->alpha = WHOLE;
	own->cwnd_before = 0;
	own->told_until = tp->rcv_nxt;
	own->marks = 0;
	begin_window(tp, own);
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_ssthresh, struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct dctcp_state *own = state_of(sk);
	__u32 cwnd = tp->snd_cwnd;
	/* Half of alpha's share. */
	__u32 less = cwnd * own->alpha / (2 * WHOLE);

	own->cwnd_before = cwnd;
	return cwnd - less > 2 ? cwnd - less : 2;
}

SEC("struct_ops")
void BPF_PROG(dctcp_ack, struct sock *sk, __u32 flags)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct dctcp_state *own = state_of(sk);
	__u32 delivered, marked, alpha = own->alpha;

	if ((__s32)(tp->snd_una - own->window_end) < 0)
		return;
	delivered = tp->delivered - own->delivered;
	marked = tp->delivered_ce - own->marked;
	/* Without this an alpha below 16 would never reach 0. */
	alpha -= alpha >> GAIN ? alpha >> GAIN : alpha;
	if (delivered && marked) {
		__u64 share = (__u64)marked * (WHOLE >> GAIN) / delivered;

		alpha += share;
		if (alpha > WHOLE)
			alpha = WHOLE;
	}
	own->alpha = alpha;
	begin_window(tp, own);
}

/* A loss is worth half of the window, whatever marks say. */
static void halve(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct dctcp_state *own = state_of(sk);

	own->cwnd_before = tp->snd_cwnd;
	tp->snd_ssthresh = tp->snd_cwnd > 4 ? tp->snd_cwnd / 2 : 2;
}

SEC("struct_ops")
void BPF_PROG(dctcp_changed, struct sock *sk, __u8 now)
{
	const struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (now == TCP_CA_Recovery && icsk->icsk_ca_state != TCP_CA_Recovery)
		halve(sk);
}

static void echo(struct sock *sk, __u32 marks)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;

	if (marks)
		tp->ecn_flags |= DEMAND_CWR;
	else
		tp->ecn_flags &= ~DEMAND_CWR;
}

/* A packet has come in, with a mark or without. */
static void received(struct sock *sk, __u32 marks)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct dctcp_state *own = state_of(sk);

	if (own->marks != marks) {
		/* What waits for its acknowledgement came before the change: it is told of as it was. */
		if (icsk->icsk_ack.pending & ACK_TIMER) {
			echo(sk, own->marks);
			bpf_tcp_send_ack(tp, own->told_until);
		}
		icsk->icsk_ack.pending |= ACK_NOW;
	}
	own->told_until = tp->rcv_nxt;
	own->marks = marks;
	echo(sk, marks);
}

SEC("struct_ops")
void BPF_PROG(dctcp_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_ECN_IS_CE)
		received(sk, 1);
	else if (event == CA_EVENT_ECN_NO_CE)
		received(sk, 0);
	else if (event == CA_EVENT_LOSS)
		halve(sk);
}

SEC("struct_ops")
void BPF_PROG(dctcp_grow, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(dctcp_undo, struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct dctcp_state *own = state_of(sk);

	return tp->snd_cwnd > own->cwnd_before ? tp->snd_cwnd : own->cwnd_before;
}

SEC(".struct_ops")
struct tcp_congestion_ops forebay_dctcp = {
	.init = (void *)dctcp_init,
	.ssthresh = (void *)dctcp_ssthresh,
	.in_ack_event = (void *)dctcp_ack,
	.cwnd_event = (void *)dctcp_event,
	.set_state = (void *)dctcp_changed,
	.cong_avoid = (void *)dctcp_grow,
	.undo_cwnd = (void *)dctcp_undo,
	.flags = NEEDS_ECN,
	.name = "forebay_dctcp",
};
