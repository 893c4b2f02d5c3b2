import { isTest, walk } from './workspace.mjs';

/** docs/adr/0011-sizes-are-checked.md explains these limits. */
export const LIMITS = { fileP95: 250, functionP95: 45, constructorParameters: 6 };

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** The 95th percentile. */
export const percentile95 = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.95) - 1)] ?? 0;
};

/** Checks the 95th percentile of the sizes of files and functions, and the parameters of every constructor. */
export const checkSizes = ({ packages, tools }) => {
  const files = [...packages.flatMap((one) => one.files), ...tools].filter((file) => !isTest(file.path));
  const problems = [];
  const fileLines = files.map((file) => file.text.trimEnd().split('\n').length);
  const functionLines = [];
  for (const file of files) {
    walk(file.program, (node) => {
      if (FUNCTIONS.has(node.type) && node.body !== null) {
        functionLines.push(file.lineAt(node.end) - file.lineAt(node.start) + 1);
      }
      if (node.type !== 'MethodDefinition' || node.kind !== 'constructor') return;
      const count = node.value.params.length;
      if (count <= LIMITS.constructorParameters) return;
      problems.push(
        `${file.path}:${file.lineAt(node.start)}: constructor takes ${count} parameters, at most ${LIMITS.constructorParameters}`,
      );
    });
  }
  const tails = { file: percentile95(fileLines), function: percentile95(functionLines) };
  if (tails.file > LIMITS.fileP95) {
    problems.push(
      `95 % of files are within ${tails.file} lines, the limit is ${LIMITS.fileP95}: split the longest files by reason to change`,
    );
  }
  if (tails.function > LIMITS.functionP95) {
    problems.push(`95 % of functions are within ${tails.function} lines, the limit is ${LIMITS.functionP95}`);
  }
  const notes = [
    `${files.length} files, p95 ${tails.file} lines; ${functionLines.length} functions, p95 ${tails.function} lines`,
  ];
  return { problems, read: files.length, notes };
};
