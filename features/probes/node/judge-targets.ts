// Asks the policies of this node's pods what they forbid of a probe.

import { readAddress } from "../../../src/net/ip.ts";
import type { JudgeEchoes } from "../../../src/kube/packet-judge.ts";
import { targetQuestions, withForbidding } from "../rules/judged-targets.ts";
import type { ProbeReport } from "../rules/probe-report.ts";
import type { ProbedAttachment } from "./probed-attachment.ts";

/** Adds the policies that forbid requests to the targets; a failure stands in the report. */
export async function judgeTargets(judge: JudgeEchoes, attachment: ProbedAttachment, report: ProbeReport): Promise<ProbeReport> {
  // A pod that is an endpoint of a Service, too, stands in the report twice.
  const targets = [...new Set(report.targets.map(({ address }) => address))].flatMap((text) => readAddress(text) ?? []);
  const questions = targetQuestions(attachment, attachment.pods, targets);
  const problems: string[] = [];
  const found = await Promise.all(
    [...Map.groupBy(questions, ({ pod }) => pod)].map(async ([pod, own]) => {
      const judged = await judge(
        pod,
        own.map(({ echo }) => echo),
      );
      if (!judged.ok) problems.push(`${pod.pod}: ${judged.fault.msg}`);
      return judged.ok ? own.map((question, index) => ({ question, policies: judged.value[index] ?? [] })) : [];
    }),
  );
  const policyProblems = problems.length === 0 ? {} : { policyProblems: problems };
  return { ...withForbidding(report, found.flat()), ...policyProblems };
}
