// Lines of AssemblyScript with indentation.

/** The first lines of every generated file. */
export const banner = "// Generated from WIT. Do not edit: wit/codegen/guest/ makes it.\n";

/** Collects lines; `block` indents what it encloses. */
export class Source {
  readonly #lines: string[] = [];
  #depth = 0;

  line(text = ""): void {
    this.#lines.push(text === "" ? "" : "  ".repeat(this.#depth) + text);
  }

  /** `head {`, the body indented, `}`. */
  block(head: string, body: () => void): void {
    this.line(`${head} {`);
    this.indent(body);
    this.line("}");
  }

  indent(body: () => void): void {
    this.#depth += 1;
    body();
    this.#depth -= 1;
  }

  /** A doc comment, nothing for empty text. */
  doc(text: string | undefined): void {
    if (text === undefined || text === "") return;
    const lines = text.replaceAll("*/", "* /").split("\n");
    if (lines.length === 1) this.line(`/** ${lines[0]} */`);
    else {
      this.line("/**");
      for (const line of lines) this.line(line === "" ? " *" : ` * ${line}`);
      this.line(" */");
    }
  }

  toString(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}
