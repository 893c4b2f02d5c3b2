import { packageOf, walk } from './workspace.mjs';

/** Files that parse the environment or build the environment of a child process. */
const ENVIRONMENT = /\/(config|main|child-environment)\.ts$|^apps\/cli\//;
/** The command line, and the guest, whose standard error is its log. */
const CONSOLE = /^apps\/cli\/|^apps\/guest\/src\/main\.ts$/;
const EXECA = /\/nerdctl-program\.ts$/;

/** Checks that only the permitted files read the environment, use the console or import execa. */
export const checkPlaces = ({ packages }) => {
  const problems = [];
  let read = 0;
  for (const file of packages.flatMap((one) => one.files)) {
    read++;
    if (file.test) continue;
    const at = (offset, text) => problems.push(`${file.path}:${file.lineAt(offset)}: ${text}`);
    for (const { specifier, line } of file.imports) {
      if (packageOf(specifier) === 'execa' && !EXECA.test(file.path)) {
        problems.push(`${file.path}:${line}: only nerdctl-program.ts imports execa`);
      }
    }
    walk(file.program, (node) => {
      if (node.type !== 'MemberExpression' || node.computed) return;
      if (node.object.name === 'process' && node.property.name === 'env' && !ENVIRONMENT.test(file.path)) {
        at(node.start, 'process.env is read in config.ts and main.ts only; take what you need as an option');
      }
      if (node.object.name === 'console' && !CONSOLE.test(file.path))
        at(node.start, 'services log with the Logger');
    });
  }
  return { problems, read };
};
