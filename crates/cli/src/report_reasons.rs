//! Why packets were dropped, in the words that all parts of a page use.

/// A reason as results have it, in words; whether switches fail in the run, too.
pub(crate) fn in_words(reason: &str, switches_fail: bool) -> &str {
    match reason {
        "failed links and switches" if !switches_fail => "failed links",
        "oversize" => "larger than the buffer",
        "rank" => "by rank",
        "queue-full" => "queue full",
        "full" => "buffer full",
        "threshold" => "above the threshold",
        "fair-drop" => "fair dropping",
        "marking" => "by the marking rule",
        "watermark" => "above the watermark",
        "pushed-out" => "pushed out",
        "expelled" => "expelled",
        "header-full" => "no room for the header",
        "ingress-pool" => "ingress: pool full",
        "ingress-port" => "ingress: above the port's limit",
        "ingress-group" => "ingress: above the group's threshold",
        "ingress-headroom" => "ingress: headroom full",
        "ingress-port-headroom" => "ingress: the port's headroom full",
        "ingress-headroom-pool" => "ingress: headroom pool full",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_tm::Reason;

    #[test]
    fn every_reason_has_words_of_its_own() {
        let mut words: Vec<&str> = Reason::ALL.iter().map(|reason| in_words(reason.as_str(), true)).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Reason::ALL.len());
        assert!(Reason::ALL.iter().all(|reason| !in_words(reason.as_str(), true).contains('-')), "{words:?}");
    }
}
