// Before each file of tests: none of them signals a group of processes. A test that lost a process' id, under load for instance, would
// otherwise end all that runs beside it, and with that the one who could say so: 0 is everybody in our own group.

const kill = process.kill.bind(process);

process.kill = (pid, signal) => {
  if (!Number.isInteger(pid) || pid <= 0) throw new Error(`a test was about to signal process ${pid}`);
  return kill(pid, signal);
};
