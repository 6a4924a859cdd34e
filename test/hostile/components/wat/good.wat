;; Answers an empty success.
;; verdict: OK
