// All attachments as a table: the picture's content as text.

import { sizeText } from "../../../../../src/text/size-text.ts";
import { ageOf } from "../../age.ts";
import type { PageData } from "../page-data.ts";
import { isUrgent } from "./picture-layout.ts";
import { Nothing, Section } from "./section.tsx";
import { matches } from "./texts.ts";

/** Rows that are shown; the filter finds the others. */
const maxRows = 200;

/** The table of attachments. */
export function Attachments({
  data: { attachments, moreAttachments, time },
  wanted,
}: {
  readonly data: PageData;
  readonly wanted: string;
}) {
  const found = attachments.filter(({ pod, container, network, addresses }) =>
    matches(wanted, pod, container, network, ...addresses),
  );
  const isCounted = attachments.some(({ traffic }) => traffic !== undefined);
  const hidden = Math.max(0, found.length - maxRows) + moreAttachments;
  return (
    <Section id="attachments" title="Attachments">
      {found.length === 0 ? (
        <Nothing>{attachments.length === 0 ? "No pod is attached." : "No attachment matches the filter."}</Nothing>
      ) : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Attachments, can be scrolled">
          <table>
            <thead>
              <tr>
                {[
                  "Pod",
                  "Interface",
                  "Network",
                  "Source",
                  "Addresses",
                  ...(isCounted ? ["Receives", "Sends"] : []),
                  "State",
                  "Since",
                ].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {found.slice(0, maxRows).map((each) => (
                <tr key={`${each.container} ${each.network} ${each.ifname}`}>
                  <th scope="row">
                    <bdi>{each.pod || `container ${each.container.slice(0, 12)}`}</bdi>
                  </th>
                  <td>
                    <code>{each.ifname}</code>
                  </td>
                  <td>
                    <bdi>{each.network}</bdi>
                  </td>
                  <td>
                    <bdi>{each.source}</bdi>
                  </td>
                  <td class="addresses">
                    <code>{each.addresses.join(" ")}</code>
                  </td>
                  {isCounted && <td>{each.traffic && `${sizeText(each.traffic.receive.bytes)}/s`}</td>}
                  {isCounted && <td>{each.traffic && `${sizeText(each.traffic.transmit.bytes)}/s`}</td>}
                  <td class={isUrgent(each) ? "outcome failed" : ""}>
                    {isUrgent(each) ? `✕ ${each.state}${each.failures > 0 ? `, ${each.failures} DEL failed` : ""}` : each.state}
                    {each.why !== undefined && (
                      <p class="bad-text">
                        <bdi>{each.why}</bdi>
                      </p>
                    )}
                  </td>
                  <td>{ageOf(each.since, time, "words")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hidden > 0 && <p class="muted">{hidden} further attachments are not shown: use the filter, or plexusctl attachments.</p>}
    </Section>
  );
}
