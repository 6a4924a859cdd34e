// Reports what the rules for steps did: as a warning of the call, and to the call's observer.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { describePlugin } from "../../../src/cni/chains.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { redactorOf } from "../../../src/text/secret-values.ts";
import type { CallObserver } from "../events/call-events.ts";
import type { Trace } from "../events/trace-file.ts";
import { type ShadowReport, shadowText } from "../events/shadow-report.ts";

/** Receives what the rules of one chain did. */
export interface StepReports {
  /** A failed step is tried again. `tries`: the number of tries so far. */
  readonly retried: (step: ChainStep, failure: Fault, tries: number) => void;
  /** A failed step is passed over. `undoing`: the fault of its DEL; undefined if the DEL succeeded or was not needed. */
  readonly passedOver: (step: ChainStep, failure: Fault, undoing: Fault | undefined) => void;
  /** A shadow has run beside the step, or could not. */
  readonly shadow: (step: ChainStep, report: ShadowReport) => void;
}

/** The chain whose steps are reported, and the outputs. */
export interface StepReportsInit {
  readonly network: string;
  readonly ifname: string;
  readonly observer: CallObserver | undefined;
  readonly trace: Pick<Trace, "verdict">;
  readonly warn: (text: string) => void;
}

/** Makes the reports of one chain. */
export function stepReports({ network, ifname, observer, trace, warn }: StepReportsInit): StepReports {
  const describe = ({ plugin, verb }: ChainStep): string => {
    const at = ifname === "" ? "" : ` as ${ifname}`;
    return `network ${network}${at}: ${verb} of plugin ${describePlugin(plugin)}`;
  };
  return {
    retried: (step, failure, tries) => {
      const { verb, plugin } = step;
      observer?.rule?.({ what: "retried", verb, network, type: plugin.type, fault: failure.kind });
      const text = `failed with code ${failure.code} and is tried again (try ${tries + 1}): ${failure.msg}`;
      trace.verdict(step, { kind: "failure-policy", text });
      warn(`${describe(step)} ${text}`);
    },
    passedOver: (step, failure, undoing) => {
      const { verb, plugin } = step;
      observer?.rule?.({ what: "passed-over", verb, network, type: plugin.type, fault: failure.kind });
      const left = undoing === undefined ? "" : `. Its DEL failed too; the attachment's DEL tries again: ${undoing.msg}`;
      const text = `failed and was passed over (failure policy "open"): ${failure.msg}${left}`;
      trace.verdict(step, { kind: "failure-policy", text });
      warn(`${describe(step)} ${text}`);
    },
    shadow: (step, report) => {
      // The text may have parts of the step's configuration.
      const text = redactorOf(step)(shadowText(report));
      observer?.shadow?.({ ...report, network, text });
      const shadow = `the shadow ${report.shadow} of ${report.type}`;
      trace.verdict(step, { kind: "shadow", text: `${shadow} ${text === "" ? "answers the same" : text}` });
      if (text !== "") warn(`${describe(step)}: ${shadow} ${text}`);
    },
  };
}
