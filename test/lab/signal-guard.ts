// Runs before each test file and prevents signals to process groups. kill(0) signals the caller's whole group: a test with a lost process
// id (0 under load, for instance) would end every test beside it and the reporter.

const kill = process.kill.bind(process);

process.kill = (pid, signal) => {
  if (!Number.isInteger(pid) || pid <= 0) throw new Error(`a test was about to signal process ${pid}`);
  return kill(pid, signal);
};
