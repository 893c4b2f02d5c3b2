import { Errors } from 'typebox/value';
import { LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type { Fault } from './fault.js';
import { llmFaults, llmSettings, type LlmSettings } from './llm-settings.js';
import { parseDestination, type NetworkDestination } from './network-destination.js';
import { longDecimals } from './long-decimals.js';
import { missingPlans, planFaults, plansOf, type Plan } from './plan.js';
import { operatorFileSchema, type OperatorFileText } from './operator-file.schema.js';

/** A host that Berth may fetch from. `insecure`: by plain HTTP too, and at private addresses. */
export interface AllowedHost {
  /** `host`, or `host:port`. */
  readonly host: string;
  readonly insecure: boolean;
}

/** The network of agents in containers. */
export interface NetworkSettings {
  /** `none` closes everything, whatever the other members say. */
  readonly mode: 'public' | 'none';
  readonly allow: readonly NetworkDestination[];
  /** Addresses of the resolvers that agents ask; empty: one of Berth's own. */
  readonly dns: readonly string[];
}

/** The sizes that a new computer gets, and keeps. */
export interface ComputerSizes {
  readonly memMb: number;
  readonly vcpus: number;
  readonly diskGb: number;
}

/** The operator's settings, with defaults for everything that the file omits. */
export interface OperatorFile {
  readonly llm: LlmSettings;
  readonly plans: readonly Plan[];
  readonly deploy: {
    readonly gitHosts: readonly AllowedHost[];
    readonly registries: readonly AllowedHost[];
  };
  readonly computers: ComputerSizes;
  readonly runtime: {
    /** Image of agents whose template names none. */
    readonly image: string;
    readonly pull: 'missing' | 'always' | 'never';
    /** Runtime class of agents whose template names none. */
    readonly class: string;
    /** The user whose subordinate ids agents get. */
    readonly subidUser: string;
    /** Whether images may run as root inside. */
    readonly allowRoot: boolean;
    /** Processes and threads of an agent. */
    readonly pidsLimit: number;
    /** Builds at a time on one host. */
    readonly builds: number;
    readonly network: NetworkSettings;
  };
}

/** A file that is not valid; names the line and the member, never a value. */
export class OperatorFileError extends Error {
  override readonly name = 'OperatorFileError';
}

const COMPUTER_DEFAULTS: ComputerSizes = { memMb: 2_048, vcpus: 2, diskGb: 10 };

const RUNTIME_DEFAULTS: Omit<OperatorFile['runtime'], 'network'> = {
  image: 'docker.io/library/debian:12',
  pull: 'missing',
  class: 'runc',
  subidUser: 'berth',
  allowRoot: true,
  pidsLimit: 1024,
  builds: 2,
};

/**
 * Parses the text of the file; an empty one is all defaults. `plansInUse`: the ids of plans that it must have. Throws
 * `OperatorFileError`.
 */
export const parseOperatorFile = (text: string, plansInUse: readonly string[] = []): OperatorFile => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [syntax] = document.errors;
  if (syntax !== undefined) throw fault(syntax.linePos?.[0].line ?? 1, '', 'is not valid YAML');
  const value = valueOf(document);
  const faultAt = ({ path, what }: Fault): OperatorFileError =>
    fault(lineOf(document, path, lines), nameOf(path), what);
  if (!isValid(value)) throw faultAt(firstFault(value));
  const [beyondSchema] = [
    ...longDecimals(document),
    ...llmFaults(value.llm ?? {}),
    ...(value.plans === undefined ? [] : planFaults(value.plans)),
    ...missingPlans(plansOf(value.plans), plansInUse),
  ];
  if (beyondSchema !== undefined) throw faultAt(beyondSchema);
  return withDefaults(value);
};

/** A few aliases can stand for a value of any size, so there are none. */
const valueOf = (document: Document): unknown => {
  try {
    return document.toJS({ maxAliasCount: 0 }) ?? {};
  } catch {
    throw fault(1, '', 'must not contain aliases');
  }
};

const isValid = (value: unknown): value is OperatorFileText => faultsOf(value).length === 0;

const faultsOf = (value: unknown): readonly SchemaFault[] =>
  Errors(operatorFileSchema, value) as unknown as readonly SchemaFault[];

interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
}

const firstFault = (value: unknown): Fault => {
  // An alternative that does not fit is a fault too; the deepest one is about what the operator meant.
  const [found] = faultsOf(value).toSorted((left, right) => depth(right) - depth(left));
  if (found === undefined) return { path: [], what: 'is not valid' };
  const path = found.instancePath.split('/').slice(1).map(unescape);
  // Members that are not declared have the schema `false`.
  return { path, what: found.keyword === 'boolean' ? 'is not known' : found.message };
};

const depth = ({ instancePath }: SchemaFault): number => instancePath.split('/').length;

/** Digits are the position in a list: no declared member has such a name. */
const unescape = (part: string): string | number =>
  /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');

/** `deploy.gitHosts[0].insecure` */
const nameOf = (path: Fault['path']): string =>
  path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');

/** The line of the member, or of the innermost one around it that the text has. */
const lineOf = (document: Document, path: Fault['path'], lines: LineCounter): number => {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined;
    if (node?.range !== undefined && node.range !== null) return lines.linePos(node.range[0]).line;
  }
  return 1;
};

const fault = (line: number, member: string, what: string): OperatorFileError =>
  new OperatorFileError(`line ${line}: ${member === '' ? 'the file' : member} ${what}`);

const withDefaults = ({
  llm = {},
  plans,
  deploy = {},
  computers = {},
  runtime = {},
}: OperatorFileText): OperatorFile => ({
  llm: llmSettings(llm),
  plans: plansOf(plans),
  deploy: {
    gitHosts: allowedHosts(deploy.gitHosts, ['github.com']),
    registries: allowedHosts(deploy.registries, ['docker.io', 'ghcr.io']),
  },
  computers: { ...COMPUTER_DEFAULTS, ...computers },
  runtime: { ...RUNTIME_DEFAULTS, ...runtime, network: networkSettings(runtime.network ?? {}) },
});

const networkSettings = ({ mode = 'public', allow = [], dns = [] }: NetworkText): NetworkSettings => ({
  mode,
  allow: allow.flatMap((text) => parseDestination(text) ?? []),
  dns,
});

type NetworkText = NonNullable<NonNullable<OperatorFileText['runtime']>['network']>;

type HostEntries = NonNullable<NonNullable<OperatorFileText['deploy']>['gitHosts']>;

const allowedHosts = (given: HostEntries | undefined, otherwise: HostEntries): readonly AllowedHost[] =>
  (given ?? otherwise).map((entry) =>
    typeof entry === 'string'
      ? { host: entry, insecure: false }
      : { host: entry.host, insecure: entry.insecure ?? false },
  );
