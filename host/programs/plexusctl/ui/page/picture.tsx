// The node as a picture. A box can be chosen by mouse or keyboard: then all that belongs to it is emphasized and described below.

import { useMemo, useState } from "preact/hooks";
import type { AttachmentState } from "../../../../node/state/node-state.ts";
import type { PageData } from "../page-data.ts";
import { type Box, columns, connectedWith, layoutPicture, lineHeight, podId, titleHeight } from "./picture-layout.ts";
import { Nothing, Section } from "./section.tsx";
import { matches, shortened } from "./texts.ts";

/** Pods, links and pools with their connections. */
export function Picture({ data, wanted }: { readonly data: PageData; readonly wanted: string }) {
  const [chosen, setChosen] = useState<string>();
  const { networks, pools } = data;
  const attachments = data.attachments.filter((each) => isWanted(each, wanted));
  const layout = useMemo(() => layoutPicture({ attachments, networks, pools }), [data, wanted]);
  const isThere = layout.boxes.some(({ id }) => id === chosen);
  const lit = chosen === undefined || !isThere ? undefined : connectedWith(layout, chosen);
  const classOf = (...ids: readonly string[]): string =>
    lit === undefined ? "" : ids.every((id) => lit.has(id)) ? "lit" : "dim";
  return (
    <Section
      id="picture"
      title="Node"
      about="Pods, the links of the node on which they are attached, and the pools of their addresses. Choose a box to follow it."
    >
      {layout.boxes.length === 0 ? (
        <Nothing>{wanted === "" ? "No pod is attached." : "No pod matches the filter."}</Nothing>
      ) : (
        <div class="canvas" tabIndex={0} role="group" aria-label="Picture, can be scrolled">
          <svg viewBox={`-2 -34 ${layout.width + 4} ${layout.height + 36}`} role="group" aria-label="Picture of the node">
            <ColumnTitles />
            <g aria-hidden="true">
              {layout.edges.map(({ id, from, to, path }) => (
                <path key={id} class={`edge ${classOf(from, to)}`} d={path} />
              ))}
            </g>
            {layout.boxes.map((box) => (
              <PictureBox
                key={box.id}
                box={box}
                look={classOf(box.id)}
                chosen={box.id === chosen}
                onChoose={() => setChosen(box.id === chosen ? undefined : box.id)}
              />
            ))}
          </svg>
        </div>
      )}
      <div aria-live="polite">
        {chosen !== undefined && isThere && <Description data={data} box={layout.boxes.find(({ id }) => id === chosen)} />}
      </div>
    </Section>
  );
}

function isWanted({ pod, container, network, addresses }: AttachmentState, wanted: string): boolean {
  return matches(wanted, pod, container, network, ...addresses);
}

function ColumnTitles() {
  return (
    <g class="columns" aria-hidden="true">
      <text x={columns.pod.x} y="-14">
        Pods
      </text>
      <text x={columns.middle.x} y="-14">
        Links of the node
      </text>
      <text x={columns.pool.x} y="-14">
        Address pools
      </text>
    </g>
  );
}

interface PictureBoxProps {
  readonly box: Box;
  readonly look: string;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

/** Characters that fit into a box' title, in the widest usual font. */
const titleCharacters = 34;

function PictureBox({ box, look, chosen, onChoose }: PictureBoxProps) {
  const { kind, title, subtitle, lines, urgent, fill, x, y, width, height } = box;
  const name = [
    kind === "more" ? "" : nameOf(kind),
    title,
    subtitle && `(${subtitle})`,
    ...lines.map(({ text, detail }) => `${text} ${detail}`),
  ];
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose();
  };
  const shownTitle = shortened(title, titleCharacters - (subtitle === "" ? 0 : Math.min(14, subtitle.length)));
  return (
    <g class={`box ${kind} ${urgent ? "urgent" : ""} ${look}`} transform={`translate(${x} ${y})`}>
      <g aria-hidden="true">
        <rect class="frame" width={width} height={height} rx="8" />
        {urgent && <rect class="flag" width="5" height={height} rx="2.5" />}
        <text class="box-title" x="14" y={titleHeight / 2 + 8}>
          {urgent ? "✕ " : ""}
          {shownTitle}
        </text>
        <text class="box-subtitle" x={width - 12} y={titleHeight / 2 + 8} text-anchor="end">
          {shortened(subtitle, 20)}
        </text>
        {lines.map(({ text, detail, urgent: isBad }, index) => {
          const lineY = titleHeight + index * lineHeight + lineHeight / 2 + 5;
          return (
            <g key={`${index} ${text}`} class={isBad ? "line urgent" : "line"}>
              <text class="mono" x="14" y={lineY}>
                {shortened(text, detail === "" ? lineCharacters(width) : shortText)}
              </text>
              <text class="mono detail" x={width - 12} y={lineY} text-anchor="end">
                {shortened(detail, detailCharacters(width, text))}
              </text>
            </g>
          );
        })}
        {fill !== undefined && (
          <>
            <rect class="meter" x="14" y={height - 20} width={width - 28} height="8" rx="4" />
            <rect class="meter-fill" x="14" y={height - 20} width={(width - 28) * Math.max(fill, 0.012)} height="8" rx="4" />
          </>
        )}
      </g>
      <rect
        class={`hit ${look}`}
        width={width}
        height={height}
        rx="8"
        role="button"
        // The names of SVG attributes are case-sensitive.
        tabindex={0}
        aria-pressed={chosen}
        aria-label={`${urgent ? "Needs attention: " : ""}${name.filter(Boolean).join(" ")}`}
        onClick={onChoose}
        onKeyDown={onKeyDown}
      >
        <title>{title}</title>
      </rect>
    </g>
  );
}

/** Characters of a line's text, if the line also has a detail. */
const shortText = 16;

/** Characters of 7.3 units that fit into a line. */
function lineCharacters(width: number): number {
  return Math.floor((width - 30) / 7.3);
}

function detailCharacters(width: number, text: string): number {
  return Math.max(4, lineCharacters(width) - 2 - Math.min(shortText, text.length));
}

function nameOf(kind: Box["kind"]): string {
  return { pod: "pod", more: "", bridge: "", parent: "link", network: "network", pool: "pool" }[kind];
}

/** A screen reader reads it again when it changes, so it has no ages, which change each second. */
function Description({ data: { attachments }, box }: { readonly data: PageData; readonly box: Box | undefined }) {
  if (box === undefined) return null;
  const own = attachments.filter((each) => podId(each) === box.id);
  return (
    <div class="description">
      <h3>
        <bdi>{box.title}</bdi> <small>{box.subtitle}</small>
      </h3>
      {own.length > 0 ? (
        <dl>
          {own.map(({ ifname, network, source, addresses, state, since, why }) => (
            <div key={ifname}>
              <dt>
                <code>{ifname}</code>
              </dt>
              <dd>
                network <bdi>{network}</bdi> ({source}), {addresses.join(", ") || "no address"}, {state}
                {since === undefined ? "" : ` since ${since.slice(0, 19).replace("T", " ")} UTC`}
                {why !== undefined && (
                  <span class="bad-text">
                    {" "}
                    DEL fails: <bdi>{why}</bdi>
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <ul>
          {box.lines.map(({ text, detail }, index) => (
            <li key={index}>
              <bdi>{text}</bdi> <bdi>{detail}</bdi>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
