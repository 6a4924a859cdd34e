;; Answers, then loops for ever in post-return.
;; verdict: LIMIT_TIME
(func (export "cabi_post_cni:delegate/plugin@0.1.0#add") (param i32)
  (loop $again (br $again)))
