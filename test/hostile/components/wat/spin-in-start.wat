;; Loops for ever while it is instantiated.
;; verdict: LIMIT_TIME
(func $begin (loop $again (br $again)))
(start $begin)
