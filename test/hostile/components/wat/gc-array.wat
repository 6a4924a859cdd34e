;; Allocates arrays of the GC proposal.
;; verdict: COMPONENT_REFUSED
;; at: admission
;; via: swap
;; message: GC
(type $a (array (mut i64)))
(func (export "cni:delegate/plugin@1.0.0#add") (param $request i32) (result i32) 
  (loop $again (drop (array.new_default $a (i32.const 100000000))) (br $again))
  (unreachable))
