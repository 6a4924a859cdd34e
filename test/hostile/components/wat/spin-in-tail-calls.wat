;; Calls itself for ever by tail calls, without a loop and without stack growth.
;; verdict: LIMIT_TIME
;; via: swap
(func $round (param i32) (result i32)
  (return_call $round (i32.add (local.get 0) (i32.const 1))))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32)
  (return_call $round (i32.const 0)))
