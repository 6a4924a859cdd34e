;; Answers, then loops for ever in post-return.
;; verdict: LIMIT_TIME
(func (export "cabi_post_cni:delegate/plugin@1.0.0#add") (param i32)
  (loop $again (br $again)))
