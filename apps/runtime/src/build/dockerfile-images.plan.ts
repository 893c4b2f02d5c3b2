/** The variables that every Dockerfile has without declaring them, with their values on this host. */
export type PlatformArguments = Readonly<Record<string, string>>;

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** A comment or an empty line. */
const IGNORED = /^\s*(?:#|$)/;
const ESCAPE = /^#\s*escape\s*=\s*([\\`])\s*$/i;
const DIRECTIVE = /^#\s*\w+\s*=/;
const HERE_DOCUMENT = /<<(-?)(["']?)([A-Za-z_][A-Za-z0-9_]*)\2/g;
const WITH_HERE_DOCUMENTS = new Set(['RUN', 'COPY', 'ADD']);
/** Longer than any image reference. Without a limit, variables that contain each other could grow huge. */
const MAX_VALUE = 4096;
const VARIABLE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:(:?[-+])([^{}$]*))?\})/g;
/** A mount of `RUN`, or an option of `COPY`, that takes files from an image or a stage. */
const SOURCE_OF_COPY = /(?:^|\s)--from=(\S+)/g;
const SOURCE_OF_MOUNT = /(?:^|\s)--mount=(?:\S*,)?from=([^,\s]+)/g;

/**
 * The distinct images that a Dockerfile takes files from, under the names that it uses. Leaves out names with variables
 * that only the build can resolve: BuildKit resolves or rejects them.
 */
export const imagesOf = (dockerfile: string, platform: PlatformArguments): readonly string[] => {
  const images = new Set<string>();
  const stages = new Set<string>(['scratch']);
  const globals = new Map(Object.entries(platform));
  let isBeforeStages = true;
  const take = (name: string | undefined): void => {
    const isStage = name === undefined || stages.has(name.toLowerCase()) || /^\d+$/.test(name);
    if (!isStage && name !== '') images.add(name);
  };
  for (const { name, text } of instructionsOf(dockerfile)) {
    if (name === 'ARG' && isBeforeStages) declare(text, globals);
    if (name === 'FROM') {
      isBeforeStages = false;
      const [image = '', as, stage] = text.split(/\s+/).filter((word) => !word.startsWith('--'));
      take(expand(unquoted(image), globals));
      if (as?.toLowerCase() === 'as' && stage !== undefined) stages.add(stage.toLowerCase());
    }
    if (name === 'COPY') for (const [, from] of text.matchAll(SOURCE_OF_COPY)) take(from);
    if (name === 'RUN') for (const [, from] of text.matchAll(SOURCE_OF_MOUNT)) take(from);
  }
  return [...images].filter((image) => !image.includes('$'));
};

/** The instructions, each with its continuation lines joined, without comments and the bodies of here documents. */
function* instructionsOf(dockerfile: string): Generator<Instruction> {
  const lines = dockerfile.replace(/^\uFEFF/, '').split(/\r?\n/);
  const continued = escapeOf(lines) === '`' ? /`[ \t]*$/ : /\\[ \t]*$/;
  for (let at = 0; at < lines.length; at++) {
    if (IGNORED.test(lines[at] ?? '')) continue;
    const { text, last } = withContinued(lines, at, continued);
    const [, name = '', rest = ''] = /^(\w+)\s*(.*)$/s.exec(text) ?? [];
    const instruction = { name: name.toUpperCase(), text: rest.trim() };
    const end = WITH_HERE_DOCUMENTS.has(instruction.name) ? afterHereDocuments(lines, last, rest) : last;
    yield instruction;
    // A here document that is not terminated makes the Dockerfile invalid.
    if (end === undefined) return;
    at = end;
  }
}

/** An instruction as one line, and the index of its last line. */
const withContinued = (
  lines: readonly string[],
  first: number,
  continued: RegExp,
): { readonly text: string; readonly last: number } => {
  const parts = [(lines[first] ?? '').trim()];
  let last = first;
  while (continued.test(parts.at(-1) ?? '') && last + 1 < lines.length) {
    const next = lines[++last] ?? '';
    if (!IGNORED.test(next)) parts.push((parts.pop() ?? '').replace(continued, ''), next);
  }
  return { text: parts.join(''), last };
};

/** The index of the last line of an instruction's here documents; undefined if one is not terminated. */
const afterHereDocuments = (lines: readonly string[], last: number, text: string): number | undefined => {
  let at = last;
  for (const [, dash, , word] of text.matchAll(HERE_DOCUMENT)) {
    const isEnd = (line: string): boolean => (dash === '-' ? line.replace(/^\t+/, '') : line) === word;
    const end = lines.findIndex((line, index) => index > at && isEnd(line));
    if (end === -1) return undefined;
    at = end;
  }
  return at;
};

const escapeOf = (lines: readonly string[]): string => {
  for (const line of lines) {
    if (!DIRECTIVE.test(line)) break;
    const escape = ESCAPE.exec(line)?.[1];
    if (escape !== undefined) return escape;
  }
  return '\\';
};

/** An `ARG` without a default has no value, because Berth passes no build arguments. */
const declare = (text: string, variables: Map<string, string>): void => {
  for (const [, name = '', value] of text.matchAll(/(\w+)(?:=("[^"]*"|'[^']*'|\S*))?/g)) {
    const expanded = value === undefined ? undefined : expand(unquoted(value), variables);
    if (expanded !== undefined && expanded.length <= MAX_VALUE) variables.set(name, expanded);
  }
};

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2');

const expand = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replace(VARIABLE, (_, plain: string | undefined, braced: string, how?: string, other = '') => {
    const value = variables.get(plain ?? braced);
    const isSet = how?.startsWith(':') === true ? (value ?? '') !== '' : value !== undefined;
    if (how?.endsWith('-') === true) return isSet ? (value ?? '') : other;
    if (how?.endsWith('+') === true) return isSet ? other : '';
    return value ?? '';
  });
