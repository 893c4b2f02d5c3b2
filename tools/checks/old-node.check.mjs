import { dirname, join } from 'node:path';

/** What npm scripts run with the Node of the machine, before the packaged one is installed. */
const ENTRIES = [
  'tools/start.mjs',
  'tools/test.mjs',
  'tools/ci.mjs',
  'tools/test-changed.mjs',
  'tools/test-python.mjs',
];
/** What came after Node 18. */
const NEWER = /\b(globSync|toSorted|toReversed|toSpliced|withResolvers|import\.meta\.dirname)\b/;

/** Checks that the tools that set a checkout up run on the oldest Node that package.json permits. */
export const checkOldNode = ({ tools }) => {
  const files = new Map(tools.map((file) => [file.path, file]));
  const reached = new Set(ENTRIES.filter((path) => files.has(path)));
  for (const path of reached)
    for (const { specifier } of files.get(path).imports) {
      const target = join(dirname(path), specifier);
      if (specifier.startsWith('.') && files.has(target)) reached.add(target);
    }
  const problems = [...reached].flatMap((path) =>
    files
      .get(path)
      .text.split('\n')
      .flatMap((line, index) => {
        const [found] = NEWER.exec(line) ?? [];
        return found === undefined ? [] : [`${path}:${index + 1}: Node 18 has no ${found}`];
      }),
  );
  return { problems, read: reached.size };
};
