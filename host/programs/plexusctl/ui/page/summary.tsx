// The figures at the top of the page.

import type { PageData } from "../page-data.ts";
import { isUrgent } from "./picture-layout.ts";
import { duration, median } from "./texts.ts";

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly detail: string;
  readonly urgent: boolean;
}

/** Attachments, calls, time of an ADD, and the fullest pool. */
export function Summary({ data }: { readonly data: PageData }) {
  return (
    <dl class="figures" aria-label="Summary">
      {figuresOf(data).map(({ name, value, detail, urgent }) => (
        <div key={name} class={urgent ? "figure urgent" : "figure"}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <span>{detail}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function figuresOf({ attachments, moreAttachments, networks, calls, pools }: PageData): readonly Figure[] {
  const urgent = attachments.filter(isUrgent).length;
  const ended = calls?.filter(({ running }) => !running) ?? [];
  const failed = ended.filter(({ failure }) => failure !== null).length;
  const running = (calls?.length ?? 0) - ended.length;
  const adds = ended.filter(({ verb, failure }) => verb === "ADD" && failure === null).map(({ ms }) => ms);
  const addMs = median(adds);
  const fullest = pools
    .flatMap(({ used, size }) => (size === undefined || size <= 0 ? [] : [{ share: used / size, used, size }]))
    .toSorted((one, other) => other.share - one.share)[0];
  return [
    {
      name: "Attachments",
      value: String(attachments.length + moreAttachments),
      detail:
        urgent > 0 ? `✕ ${urgent} need attention` : `in ${networks.length} ${networks.length === 1 ? "network" : "networks"}`,
      urgent: urgent > 0,
    },
    {
      name: "Last calls",
      value: calls === null ? "?" : String(ended.length),
      detail: [running > 0 ? `${running} running` : "", failed > 0 ? `✕ ${failed} failed` : "none failed"]
        .filter(Boolean)
        .join(", "),
      urgent: failed > 0,
    },
    {
      name: "Median ADD",
      value: addMs === undefined ? "–" : duration(addMs),
      detail: `of ${adds.length} successful ${adds.length === 1 ? "call" : "calls"}`,
      urgent: false,
    },
    {
      name: "Fullest pool",
      value: fullest === undefined ? "–" : `${Math.round(fullest.share * 100)} %`,
      detail: fullest === undefined ? "no pool of known size" : `${fullest.used} of ${fullest.size} addresses`,
      urgent: fullest !== undefined && fullest.share > 0.9,
    },
  ];
}
