;; Answers a result address beyond its memory.
;; verdict: ABI_VIOLATED
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (i32.const -4))
