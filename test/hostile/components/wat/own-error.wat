;; Answers an error with escape sequences and a code beyond the range of CNI codes.
;; verdict: DELEGATE_FAILED
(data (i32.const 2048) "no \1b]0;owned\07address left")
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.store8 (i32.const 1024) (i32.const 1))
  (i32.store (i32.const 1028) (i32.const -1))
  (i32.store (i32.const 1032) (i32.const 2048))
  (i32.store (i32.const 1036) (i32.const 25))
  (i32.const 1024))
