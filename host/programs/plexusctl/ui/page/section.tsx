// A section of the page with its heading.

import type { ComponentChildren } from "preact";

interface SectionProps {
  readonly id: string;
  readonly title: string;
  /** A sentence below the heading. */
  readonly about?: string;
  readonly children: ComponentChildren;
}

/** A section that its heading names. */
export function Section({ id, title, about, children }: SectionProps) {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {about !== undefined && <p class="about">{about}</p>}
      {children}
    </section>
  );
}

/** A sentence in place of an empty list. */
export function Nothing({ children }: { readonly children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}
