;; Logs for ever.
;; verdict: LIMIT_LOG
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (loop $again (call $log (i32.const 2) (i32.const 1024) (i32.const 64)) (br $again))
  (unreachable))
