;; Logs with a level that does not exist.
;; verdict: ABI_VIOLATED
(import "cni:delegate/log@1.0.0" "write" (func $log (param i32 i32 i32)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (call $log (i32.const 4) (i32.const 0) (i32.const 0))
  (i32.const 1024))
