import { expect, test } from "vitest";
import { sandboxTimes } from "./sandbox-times.ts";

const at = (ms: number, msg: string): string => `time="2026-01-01T00:00:0${ms / 1000}Z" level=info msg="${msg}"`;
const id = "0a1b";
const stop = String.raw`StopPodSandbox for \"${id}\"`;

test.each([
  "&PodSandboxMetadata{Name:web-1,Uid:u,Namespace:default,Attempt:0,}",
  String.raw`name:\"web-1\" uid:\"u\" namespace:\"default\"`,
])("a pod's calls count once each, and those of other pods do not: %s", (subject) => {
  const other = subject.replace("web-1", "other");
  const log = [
    at(1000, `RunPodSandbox for ${subject}`),
    at(1100, `RunPodSandbox for ${other}`),
    at(1250, String.raw`RunPodSandbox for ${other} returns sandbox id \"ffff\"`),
    at(1500, String.raw`RunPodSandbox for ${subject} returns sandbox id \"${id}\"`),
    at(2000, stop),
    at(2125, String.raw`StopPodSandbox for \"ffff\" returns successfully`),
    at(2250, `${stop} returns successfully`),
    at(3000, stop),
    at(4000, `${stop} returns successfully`),
    "no line of a call",
  ].join("\n");
  expect(sandboxTimes(log, "web-")).toEqual({ run: [500], stop: [250] });
});
