import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOpenApi } from '../openapi.mjs';

export const PYTHON_TYPES = 'libs/client-python/src/berth/types.py';
const BUILT = 'apps/gateway/dist/gateway.module.js';
const WIDTH = 110;
const REFERENCE = '#/components/schemas/';
const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);
const SCALARS = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

/** Renders the types of the Python client from the schemas of the OpenAPI document, under their names. */
export const renderPythonTypes = async ({ root }) => pythonTypes(JSON.parse(await readOpenApi(root)));

/** The module of types for a document. */
export const pythonTypes = ({ components: { schemas } }) => {
  const names = Object.keys(schemas).sort();
  const types = new Types(names);
  for (const name of names) types.declare(name, schemas[name]);
  const exported = types.names.sort().map((name) => `    "${name}",\n`);
  return `${HEAD}\n__all__ = [\n${exported.join('')}]\n\n\n${types.blocks.join('\n\n\n')}\n`;
};

class Types {
  names = [];
  blocks = [];
  #taken;

  constructor(names) {
    this.#taken = new Set(names);
  }

  /** Adds the declaration of a schema, after those of the objects in it that have no name of their own. */
  declare(name, schema) {
    this.names.push(name);
    if (schema.type === 'object' && schema.properties !== undefined) this.#declareObject(name, schema);
    else this.blocks.push(`${name}: TypeAlias = ${text(this.#typeOf(schema, name))}`);
  }

  #declareObject(name, { properties, required = [], description }) {
    const members = Object.entries(properties).map(([member, schema]) => ({
      member,
      type: this.#typeOf(schema, `${name}${pascal(member)}`),
      description: schema.description,
    }));
    const needed = members.filter(({ member }) => required.includes(member));
    const optional = members.filter(({ member }) => !required.includes(member));
    if (needed.length === 0 || optional.length === 0) {
      this.blocks.push(dictionary({ name, members, total: optional.length === 0, description }));
      return;
    }
    const base = `_${name}Required`;
    this.blocks.push(dictionary({ name: base, members: needed, total: true }));
    this.blocks.push(dictionary({ name, bases: [base], members: optional, total: false, description }));
  }

  #typeOf(schema, name) {
    if (schema.$ref !== undefined) return schema.$ref.slice(REFERENCE.length);
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices !== undefined)
      return union(choices.map((one, at) => this.#typeOf(one, at ? `${name}${at}` : name)));
    if (Array.isArray(schema.type))
      return union(schema.type.map((type) => this.#typeOf({ ...schema, type }, name)));
    if (schema.type === 'array') return `list[${this.#typeOf(schema.items ?? {}, singular(name))}]`;
    if (schema.type === 'object') return this.#objectOf(schema, name);
    return SCALARS[schema.type] ?? 'Any';
  }

  #objectOf(schema, name) {
    if (schema.properties === undefined) {
      const { additionalProperties: values } = schema;
      const type = typeof values === 'object' ? this.#typeOf(values, `${name}Value`) : 'Any';
      return `dict[str, ${type}]`;
    }
    let own = name;
    for (let number = 2; this.#taken.has(own); number += 1) own = `${name}${number}`;
    this.#taken.add(own);
    this.declare(own, schema);
    return own;
  }
}

/** A `TypedDict`, as a call if a member has the name of a keyword. */
const dictionary = ({ name, bases = ['TypedDict'], members, total, description }) => {
  const option = total ? '' : ', total=False';
  if (members.some(({ member }) => KEYWORDS.has(member) || !/^[A-Za-z_]\w*$/.test(member))) {
    if (bases[0] !== 'TypedDict') throw new Error(`${name} has optional members with names of keywords.`);
    const lines = members.map(({ member, type }) => `        ${text(member)}: ${text(type)},\n`);
    return `${name} = TypedDict(\n    ${text(name)},\n    {\n${lines.join('')}    },\n${total ? '' : '    total=False,\n'})`;
  }
  const head = `class ${name}(${bases.join(', ')}${option}):`;
  const lines = members.map(({ member, type, description: meaning }) =>
    [`    ${member}: ${type}`, ...(meaning === undefined ? [] : docstring(meaning))].join('\n'),
  );
  const docs = description === undefined ? [] : [...docstring(description), ''];
  const body = [...docs, ...lines];
  return [head, ...(body.length === 0 ? ['    pass'] : body)].join('\n');
};

/** Lines of a docstring, wrapped. */
const docstring = (meaning) => {
  const lines = [''];
  for (const word of meaning.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== '' && 4 + 6 + last.length + word.length >= WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  const closing = lines.at(-1).endsWith('"') ? ' """' : '"""';
  return `    """${lines.join('\n    ')}${closing}`.split('\n');
};

const singular = (name) => (name.endsWith('s') ? name.slice(0, -1) : `${name}Item`);
const union = (types) => [...new Set(types)].join(' | ');
const text = (value) => JSON.stringify(value);
const literal = (value) =>
  value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : text(value);
const pascal = (member) =>
  member.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter) => letter.toUpperCase());

const HEAD = `"""What the service sends and takes, under the names of its OpenAPI document.

Generated by \`npm run pages\`; \`npm test\` fails when it is out of date. A later version of the service
may send further members.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict
`;

/** Checks that the types are those of the document, and that both clients have one version. */
export const checkPythonTypes = async (workspace) => {
  const { root } = workspace;
  if (!existsSync(join(root, BUILT)))
    return { problems: ['the gateway is not built: run npx tsc -b'], read: 1 };
  const wanted = await renderPythonTypes(workspace);
  const path = join(root, PYTHON_TYPES);
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === wanted;
  const problems = isCurrent ? [] : [`${PYTHON_TYPES} is out of date: run npm run pages`];
  return { problems: [...problems, ...differentVersions(root)], read: wanted.split('\n').length };
};

const differentVersions = (root) => {
  const other = join(root, 'libs/client/package.json');
  if (!existsSync(other)) return [];
  const { version } = JSON.parse(readFileSync(other, 'utf8'));
  const module = readFileSync(join(root, 'libs/client-python/src/berth/_version.py'), 'utf8');
  return module.includes(`"${version}"`)
    ? []
    : [`libs/client has version ${version}, libs/client-python another: clients have one version`];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  writeFileSync(join(root, PYTHON_TYPES), await renderPythonTypes({ root }));
}
