import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatted } from './formatted.mjs';
import { readWorkspace, walk } from './workspace.mjs';

export const SUBJECTS_PAGE = 'docs/subjects.md';
const DEFAULT_DEADLINE_MS = 10_000;

/** Renders the page of all subjects that the contracts define. */
export const renderSubjects = async (workspace) => {
  const sections = contractsOf(workspace)
    .map((one) => renderContract(one))
    .filter((section) => section !== null);
  return formatted(SUBJECTS_PAGE, `${HEAD}\n${sections.join('\n')}`);
};

/** The files of each context, in the order of the contexts' names. */
const contractsOf = ({ packages }) => {
  const byContext = new Map();
  for (const { dir, files } of packages.filter((one) => one.dir === 'libs/contracts')) {
    for (const file of files) {
      const context = file.path.slice(`${dir}/src/`.length).split('/')[0];
      byContext.set(context, [...(byContext.get(context) ?? []), file]);
    }
  }
  return [...byContext].sort(([a], [b]) => (a < b ? -1 : 1)).map(([context, files]) => ({ context, files }));
};

const HEAD = `# Subjects

Generated from \`libs/contracts\` by \`node tools/checks/subjects.mjs --write\`; \`npm test\` fails when it is out of date.

Commands (\`cmd.\`) and queries (\`qry.\`) are NATS request/reply: one instance of the queue group of the service named in
the subject replies, and a caller waits at most until the deadline. Only the named runtime host replies on a subject that
ends in \`{host}\`, and only the named host sends one that ends in \`{from}\`. Events (\`evt.\`) are in JetStream, one
stream per context. Notices (\`notice.\`) are messages between the processes of a service, \`notice.postgres.\` between
all processes with tables; they may be lost
([ADR 35](adr/0035-notices-instead-of-connections.md)).

On the broker every subject starts with the name of the installation (\`BERTH_INSTANCE\`): \`berth.cmd.agents.create.v1\`.
`;

const renderContract = ({ context, files }) => {
  const requests = files.flatMap(requestsOf);
  const events = files.flatMap((file) => eventsOf(file, context));
  if (requests.length + events.length === 0) return null;
  const lines = [`## ${context}`, ''];
  if (requests.length > 0)
    lines.push('| subject | request | reply | deadline |', '| --- | --- | --- | --- |');
  for (const { subject, shapes, deadlineMs } of requests) {
    lines.push(`| \`${subject}\` | ${code(shapes[0])} | ${code(shapes[1])} | ${deadlineMs / 1000} s |`);
  }
  if (requests.length > 0 && events.length > 0) lines.push('');
  if (events.length > 0) lines.push('| event |', '| --- |');
  for (const subject of events) lines.push(`| \`${subject}\` |`);
  return `${lines.join('\n')}\n`;
};

const code = (shape) =>
  shape === undefined
    ? ''
    : `\`${shape
        .replace(/\breadonly /g, '')
        .replace(/\s+/g, ' ')
        .replaceAll('|', '\\|')}\``;

const requestsOf = (file) => {
  const found = [];
  if (file.test) return found;
  const declared = declaredShapes(file);
  walk(file.program, (node) => {
    if (node.type !== 'Property' || node.value.callee?.name !== 'defineRequest') return;
    const [subject, deadline] = node.value.arguments;
    const shapes = (node.value.typeArguments?.params ?? []).map(({ start, end }) =>
      file.text.slice(start, end),
    );
    found.push({
      subject: textOf(subject),
      shapes: shapes.length > 0 ? shapes : (declared.get(node.key.name) ?? []),
      deadlineMs: deadline?.value ?? DEFAULT_DEADLINE_MS,
    });
  });
  return found;
};

/** Types of requests that an interface declares as `RequestDefinition<…>` under the same name. */
const declaredShapes = (file) => {
  const found = new Map();
  walk(file.program, (node) => {
    const type = node.type === 'TSPropertySignature' ? node.typeAnnotation?.typeAnnotation : undefined;
    if (type?.typeName?.name !== 'RequestDefinition') return;
    found.set(
      node.key.name,
      type.typeArguments.params.map(({ start, end }) => file.text.slice(start, end)),
    );
  });
  return found;
};

/** The value of a literal; each expression of a template becomes `<name>`. */
const textOf = (node) =>
  node.type === 'TemplateLiteral'
    ? node.quasis
        .map(
          (part, index) =>
            part.value.cooked + (index < node.expressions.length ? `<${node.expressions[index].name}>` : ''),
        )
        .join('')
    : node.value;

/** `defineEvent('<context>', '<name>', …)` of a contract defines a public event. */
const eventsOf = (file) => {
  const found = [];
  if (file.test) return found;
  walk(file.program, (node) => {
    if (node.type !== 'CallExpression' || node.callee.name !== 'defineEvent') return;
    const [context, name] = node.arguments;
    found.push(`evt.${context.value}.${name.value}.v1.<account>.<id>`);
  });
  return found;
};

/** Checks that the page matches the contracts and that every subject is unique and well formed. */
export const checkSubjects = async (workspace) => {
  const expected = await renderSubjects(workspace);
  const subjects = contractsOf(workspace)
    .flatMap(({ files }) => files.flatMap(requestsOf))
    .map(({ subject }) => subject);
  const problems = [];
  const seen = new Set();
  for (const subject of subjects) {
    if (!/^(cmd|qry)\.([a-z][a-z-]*|<context>)\.[a-z][a-z-]*\.v\d+(\.\{(host|from)\})?$/.test(subject))
      problems.push(`'${subject}' is not a valid subject`);
    if (seen.has(subject)) problems.push(`'${subject}' is defined twice`);
    seen.add(subject);
  }
  if (readPage(workspace.root) !== expected) {
    problems.push(`${SUBJECTS_PAGE} is out of date: run node tools/checks/subjects.mjs --write`);
  }
  return { problems, read: subjects.length };
};

const readPage = (root) => {
  try {
    return readFileSync(join(root, SUBJECTS_PAGE), 'utf8');
  } catch {
    return null;
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const page = await renderSubjects(readWorkspace(root));
  if (process.argv.includes('--write')) writeFileSync(join(root, SUBJECTS_PAGE), page);
  else process.stdout.write(page);
}
