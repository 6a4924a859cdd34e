;; Logs one line with an escape sequence and answers an empty success.
;; verdict: OK
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(data (i32.const 2048) "h\1b[31mello\07")
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (call $log (i32.const 1) (i32.const 2048) (i32.const 11))
  (i32.const 1024))
