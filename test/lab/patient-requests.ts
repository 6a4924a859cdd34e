// A controller loads this module before its program. Its requests to providers then wait a hundred times as long for an answer, so that none
// ends while a test holds the answer back.

const timeout = AbortSignal.timeout.bind(AbortSignal);

AbortSignal.timeout = (ms) => timeout(100 * ms);
