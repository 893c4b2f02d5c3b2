/** A variable that the creator of an agent can or must set. */
export interface TemplateEnvVar {
  readonly key: string;
  readonly required: boolean;
  readonly description: string;
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
  /** Absolute path of the template's folder. */
  readonly folder: string;
}

/** An invalid template; the message names its file and the problem. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

type Fields = Readonly<Record<string, unknown>>;

const ID_FORM = /^[a-z0-9][a-z0-9-]{0,63}$/;
const ENV_KEY_FORM = /^(?!BERTH_)[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Parses the text of `<folder>/template.json`; throws `TemplateError`. */
export const parseTemplate = (text: string, folder: string, folderName: string): Template => {
  const complain = (what: string): never => {
    throw new TemplateError(`${folder}/template.json: ${what}`);
  };
  const fields = toObject(parseJson(text, complain), 'the template', complain);
  const read = reader(fields, complain);
  const id = read.text('id');
  if (!ID_FORM.test(id)) complain('"id" must be lower case letters, digits and dashes');
  if (id !== folderName) complain(`"id" is "${id}", but the folder is named "${folderName}"`);
  return {
    id,
    name: read.text('name'),
    description: read.text('description'),
    deprecated: read.flag('deprecated', false),
    resources: readResources(fields['resources'], complain),
    capabilities: read.texts('capabilities'),
    env: readEnv(fields['env'] ?? [], complain),
    program: readProgram(fields['program'], complain),
    generation: readGeneration(fields['generation'] ?? 'current', complain),
    folder,
  };
};

type Complain = (what: string) => never;

const parseJson = (text: string, complain: Complain): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return complain(`invalid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
};

const toObject = (value: unknown, what: string, complain: Complain): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : complain(`${what} must be an object`);

const reader = (fields: Fields, complain: Complain) => ({
  text(name: string): string {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? value : complain(`"${name}" must be a string`);
  },
  flag(name: string, otherwise: boolean): boolean {
    const value = fields[name] ?? otherwise;
    return typeof value === 'boolean' ? value : complain(`"${name}" must be true or false`);
  },
  texts(name: string): readonly string[] {
    return toTexts(fields[name], `"${name}"`, complain);
  },
});

const toTexts = (value: unknown, what: string, complain: Complain): readonly string[] =>
  Array.isArray(value) && value.every((item): item is string => typeof item === 'string' && item !== '')
    ? value
    : complain(`${what} must be a list of strings`);

const readResources = (value: unknown, complain: Complain): Template['resources'] => {
  const fields = toObject(value, '"resources"', complain);
  const positive = (name: string, whole: boolean): number => {
    const amount = fields[name];
    return typeof amount === 'number' &&
      Number.isFinite(amount) &&
      amount > 0 &&
      (!whole || Number.isInteger(amount))
      ? amount
      : complain(`"resources.${name}" must be a ${whole ? 'whole ' : ''}number above 0`);
  };
  return {
    memMb: positive('memMb', true),
    vcpus: positive('vcpus', false),
    diskGb: positive('diskGb', true),
  };
};

const readEnv = (value: unknown, complain: Complain): readonly TemplateEnvVar[] => {
  if (!Array.isArray(value)) return complain('"env" must be a list');
  return value.map((item: unknown, index) => {
    const at = `"env[${index}]"`;
    const read = reader(toObject(item, at, complain), (what) => complain(`${at}: ${what}`));
    const key = read.text('key');
    if (!ENV_KEY_FORM.test(key)) complain(`${at}: "key" is not a valid name for a variable of an agent`);
    return { key, required: read.flag('required', false), description: read.text('description') };
  });
};

const readProgram = (value: unknown, complain: Complain): Template['program'] => {
  if (value === null) return null;
  const fields = toObject(value, '"program" (null if there is none)', complain);
  const [command, ...args] = toTexts(fields['command'], '"program.command"', complain);
  return command === undefined ? complain('"program.command" is empty') : { command: [command, ...args] };
};

const readGeneration = (value: unknown, complain: Complain): Template['generation'] =>
  value === 'current' || value === 'legacy' ? value : complain('"generation" must be "current" or "legacy"');
