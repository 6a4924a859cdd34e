// How long containerd's calls for pods took, by its log: RunPodSandbox has the ADD of all networks, StopPodSandbox has the DEL.

/** Milliseconds of the calls that succeeded, in the order of their ends. */
export interface SandboxTimes {
  readonly run: readonly number[];
  readonly stop: readonly number[];
}

const line =
  /^time="(?<time>[^"]+)" level=info msg="(?<call>RunPodSandbox|StopPodSandbox) for (?<subject>.+?)(?: returns (?<end>sandbox id \\"(?<id>[0-9a-f]+)\\"|successfully))?"$/u;

/** The times of the pods whose names begin with `prefix`. A call that failed and was repeated counts from its first beginning. */
export function sandboxTimes(log: string, prefix: string): SandboxTimes {
  const begun = new Map<string, number>();
  const sandboxes = new Set<string>();
  const times = { run: [] as number[], stop: [] as number[] };
  for (const text of log.split("\n")) {
    const { time = "", call = "", subject = "", end, id } = line.exec(text)?.groups ?? {};
    // containerd 1 writes Name:web, containerd 2 writes name:\"web\".
    const wanted =
      call === "RunPodSandbox" ? new RegExp(`\\bname:(?:\\\\")?${prefix}`, "iu").test(subject) : sandboxes.has(subject);
    if (!wanted) continue;
    const key = `${call} ${subject}`;
    const begin = begun.get(key);
    if (end === undefined) {
      if (begin === undefined) begun.set(key, Date.parse(time));
      continue;
    }
    if (id !== undefined) sandboxes.add(`\\"${id}\\"`);
    // The kubelet stops a sandbox more than once.
    if (begin === undefined || Number.isNaN(begin)) continue;
    times[call === "RunPodSandbox" ? "run" : "stop"].push(Date.parse(time) - begin);
    begun.set(key, Number.NaN);
  }
  return times;
}
