;; Computes without an end.
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) (local $i i64)
  (loop $again
    (local.set $i (i64.add (local.get $i) (i64.const 1)))
    (br_if $again (i64.lt_u (local.get $i) (i64.const 3000000000))))
  (i32.const 1024))
