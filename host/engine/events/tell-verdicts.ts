// Verdicts: decisions of the administrator's rules about a step, told to the call's subscribers and, in a sentence, to its log.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { describePlugin } from "../../../src/cni/chains.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { type ShadowReport, shadowText } from "../../../src/step-policy/shadow-report.ts";
import { redactorOf } from "../../../src/text/secret-values.ts";
import type { CallEvents } from "./call-events.ts";

/** The chain of a step. */
interface Chain {
  readonly network: string;
  readonly ifname: string;
}

function describe({ network, ifname }: Chain, { plugin, verb }: ChainStep): string {
  const at = ifname === "" ? "" : ` as ${ifname}`;
  return `network ${network}${at}: ${verb} of plugin ${describePlugin(plugin)}`;
}

/** Tells that a failed step is tried again. `tries`: the number of tries so far. */
export function tellRetried(events: CallEvents, chain: Chain, step: ChainStep, failure: Fault, tries: number): void {
  const { network, ifname } = chain;
  const text = `failed with code ${failure.code} and is tried again (try ${tries + 1}): ${failure.msg}`;
  events.tell({ what: "step-retried", step, network, ifname, fault: failure });
  events.tell({ what: "step-decided", step, verdict: { kind: "failure-policy", text } });
  events.warn(`${describe(chain, step)} ${text}`);
}

/** Tells that a failed step is passed over. `undoing`: the fault of its DEL; undefined if the DEL succeeded or was not needed. */
export function tellPassedOver(events: CallEvents, chain: Chain, step: ChainStep, failure: Fault, undoing?: Fault): void {
  const { network, ifname } = chain;
  const left = undoing === undefined ? "" : `. Its DEL failed too; the attachment's DEL tries again: ${undoing.msg}`;
  const text = `failed and was passed over (failure policy "open"): ${failure.msg}${left}`;
  events.tell({ what: "step-passed-over", step, network, ifname, fault: failure });
  events.tell({ what: "step-decided", step, verdict: { kind: "failure-policy", text } });
  events.warn(`${describe(chain, step)} ${text}`);
}

/** Tells that a shadow has run beside the step, or could not. */
export function tellShadow(events: CallEvents, chain: Chain, step: ChainStep, report: ShadowReport): void {
  // The text may have parts of the step's configuration.
  const text = redactorOf(step)(shadowText(report));
  const shadow = `the shadow ${report.shadow} of ${report.type}`;
  events.tell({ what: "shadow-ended", network: chain.network, report, text });
  events.tell({
    what: "step-decided",
    step,
    verdict: { kind: "shadow", text: `${shadow} ${text === "" ? "answers the same" : text}` },
  });
  if (text !== "") events.warn(`${describe(chain, step)}: ${shadow} ${text}`);
}
