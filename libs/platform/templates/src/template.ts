import { parseImageReference } from '@berth/kernel';

/** A variable that the creator of an agent can or must set. */
export interface TemplateEnvVar {
  readonly key: string;
  readonly required: boolean;
  readonly description: string;
}

/** What a template says about the containers of its agents. */
export interface ContainerOptions {
  /** Reference of an image; null: the operator's. */
  readonly image: string | null;
  /** The agent's processes are root inside. */
  readonly root: boolean;
  /** The agent can change its root file system. */
  readonly writableRoot: boolean;
  /** null: the operator's. */
  readonly runtimeClass: string | null;
  /** `none`: no network, whatever the host offers. */
  readonly network: 'none' | null;
  /** Where agents see their volume: an absolute path; null: the driver's choice. */
  readonly volumePath: string | null;
}

/** A template for agents: one folder with a `template.json` and the files of the agent's program. */
export interface Template {
  /** The folder's name: lower-case letters, digits and dashes. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly deprecated: boolean;
  /** Memory in megabytes, number of processors, volume in gigabytes. */
  readonly resources: { readonly memMb: number; readonly vcpus: number; readonly diskGb: number };
  /** What the template's agents support, e.g. `chat`, `exec`, `exec.detached`, `files`. */
  readonly capabilities: readonly string[];
  readonly env: readonly TemplateEnvVar[];
  /** How to start the agent's own program, inside the template's folder; null if there is none (no chat). */
  readonly program: { readonly command: readonly [string, ...string[]] } | null;
  /** The generation of the guest that serves its agents. */
  readonly generation: 'current' | 'legacy';
  /** How its agents' containers are made; drivers without containers ignore it. */
  readonly container: ContainerOptions;
  /** Absolute path of the template's folder. */
  readonly folder: string;
}

/** An invalid template; the message names its file and the problem. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

type Fields = Readonly<Record<string, unknown>>;

const ID_FORM = /^[a-z0-9][a-z0-9-]{0,63}$/;
const RUNTIME_CLASS = /^[a-z][a-z0-9-]{0,31}$/;
/** Without dots at the begin of a name, and without characters that separate paths in options. */
const VOLUME_PATH = /^(?=.{1,255}$)(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$/;
/** Every container has them, or files in them, of its own. */
const TAKEN_PATHS = ['/dev', '/etc/resolv.conf', '/proc', '/run', '/sys', '/tmp', '/var/tmp'];
const ENV_KEY_FORM = /^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Parses the text of `<folder>/template.json`; throws `TemplateError`. */
export const parseTemplate = (text: string, folder: string, folderName: string): Template => {
  const fail = (what: string): never => {
    throw new TemplateError(`${folder}/template.json: ${what}`);
  };
  const fields = toObject(parseJson(text, fail), 'the template', fail);
  const read = reader(fields, fail);
  const id = read.text('id');
  if (!ID_FORM.test(id)) fail('"id" must be lower case letters, digits and dashes');
  if (id !== folderName) fail(`"id" is "${id}", but the folder is named "${folderName}"`);
  return {
    id,
    name: read.text('name'),
    description: read.text('description'),
    deprecated: read.flag('deprecated', false),
    resources: readResources(fields['resources'], fail),
    capabilities: read.texts('capabilities'),
    env: readEnv(fields['env'] ?? [], fail),
    program: readProgram(fields['program'], fail),
    generation: readGeneration(fields['generation'] ?? 'current', fail),
    container: readContainer(fields, read.flag, fail),
    folder,
  };
};

type Fail = (what: string) => never;

const parseJson = (text: string, fail: Fail): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return fail(`invalid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const toObject = (value: unknown, what: string, fail: Fail): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : fail(`${what} must be an object`);

const reader = (fields: Fields, fail: Fail) => ({
  text(name: string): string {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? value : fail(`"${name}" must be a string`);
  },
  flag(name: string, fallback: boolean): boolean {
    const value = fields[name] ?? fallback;
    return typeof value === 'boolean' ? value : fail(`"${name}" must be true or false`);
  },
  texts(name: string): readonly string[] {
    return toTexts(fields[name], `"${name}"`, fail);
  },
});

const toTexts = (value: unknown, what: string, fail: Fail): readonly string[] =>
  Array.isArray(value) && value.every((item): item is string => typeof item === 'string' && item !== '')
    ? value
    : fail(`${what} must be a list of strings`);

const readResources = (value: unknown, fail: Fail): Template['resources'] => {
  const fields = toObject(value, '"resources"', fail);
  const positive = (name: string, whole: boolean): number => {
    const amount = fields[name];
    return typeof amount === 'number' &&
      Number.isFinite(amount) &&
      amount > 0 &&
      (!whole || Number.isInteger(amount))
      ? amount
      : fail(`"resources.${name}" must be a ${whole ? 'whole ' : ''}number above 0`);
  };
  return {
    memMb: positive('memMb', true),
    vcpus: positive('vcpus', false),
    diskGb: positive('diskGb', true),
  };
};

const readEnv = (value: unknown, fail: Fail): readonly TemplateEnvVar[] => {
  if (!Array.isArray(value)) return fail('"env" must be a list');
  return value.map((item: unknown, index) => {
    const at = `"env[${index}]"`;
    const read = reader(toObject(item, at, fail), (what) => fail(`${at}: ${what}`));
    const key = read.text('key');
    if (!ENV_KEY_FORM.test(key)) fail(`${at}: "key" is not a valid name for a variable of an agent`);
    return { key, required: read.flag('required', false), description: read.text('description') };
  });
};

const readProgram = (value: unknown, fail: Fail): Template['program'] => {
  if (value === null) return null;
  const fields = toObject(value, '"program" (null if there is none)', fail);
  const [command, ...args] = toTexts(fields['command'], '"program.command"', fail);
  return command === undefined ? fail('"program.command" is empty') : { command: [command, ...args] };
};

const readContainer = (
  fields: Fields,
  flag: (name: string, fallback: boolean) => boolean,
  fail: Fail,
): ContainerOptions => ({
  image: readImage(fields['image'] ?? null, fail),
  root: flag('root', false),
  writableRoot: flag('writableRoot', false),
  runtimeClass: readRuntimeClass(fields['runtimeClass'] ?? null, fail),
  network: readNetwork(fields['network'] ?? null, fail),
  volumePath: readVolumePath(fields['volumePath'] ?? null, fail),
});

const readImage = (value: unknown, fail: Fail): string | null => {
  if (value === null) return null;
  return typeof value === 'string' && parseImageReference(value) !== undefined
    ? value
    : fail('"image" must be the reference of an image, such as docker.io/library/debian:12');
};

const readRuntimeClass = (value: unknown, fail: Fail): string | null => {
  if (value === null) return null;
  return typeof value === 'string' && RUNTIME_CLASS.test(value)
    ? value
    : fail('"runtimeClass" must be the name of a runtime class, such as runc');
};

/** A template can only narrow what the operator decides. */
const readNetwork = (value: unknown, fail: Fail): ContainerOptions['network'] =>
  value === null || value === 'none' ? value : fail('"network" must be "none", or absent');

const readVolumePath = (value: unknown, fail: Fail): string | null => {
  if (value === null) return null;
  return typeof value === 'string' &&
    VOLUME_PATH.test(value) &&
    !TAKEN_PATHS.some((path) => nests(path, value))
    ? value
    : fail('"volumePath" must be the absolute path of a folder of its own, such as /data');
};

/** Whether one of two folders is in the other, or both are the same. */
const nests = (one: string, other: string): boolean =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);

const readGeneration = (value: unknown, fail: Fail): Template['generation'] =>
  value === 'current' || value === 'legacy' ? value : fail('"generation" must be "current" or "legacy"');
