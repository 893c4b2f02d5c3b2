const COMMANDS = 'apps/cli/src/commands';
const COMPUTERS = 'apps/cli/src/computers';

/** Computers on the command line, and the example of a model that uses one. */
export const COMPUTER_COMMANDS = [
  {
    guarantee: 'A command in a computer decides the exit code.',
    file: `${COMMANDS}/computer-exec.command.ts`,
    find: "return status === 'completed' && exitCode >= 0 ? exitCode : EXIT.notTheCommands;",
    replace: "return status === 'completed' && exitCode >= 0 ? Math.min(exitCode, 1) : EXIT.notTheCommands;",
    test: 'apps/cli/src/computer-exec.spec.ts',
    title: 'ends with the exit code %d of the command',
  },
  {
    guarantee: 'What is not the command of a computer has an exit code of its own.',
    file: `${COMMANDS}/computer-exec.command.ts`,
    find: 'throw new CliError(EXIT.notTheCommands, message',
    replace: 'throw new CliError(EXIT.refused, message',
    test: 'apps/cli/src/computer-exec.spec.ts',
    title: 'ends with 125 for %s',
  },
  {
    guarantee: 'Names of a computer write nothing outside the folder of a copy.',
    file: `${COMPUTERS}/computer-files.ts`,
    find: "if (name === '' || name === '.' || name === '..' || /[/\\\\\\0]/.test(name)) continue;",
    replace: "if (name === '') continue;",
    test: 'apps/cli/src/computer-copy.spec.ts',
    title: 'never writes outside the folder',
  },
  {
    guarantee: 'A copy that fails leaves no part of a file.',
    file: `${COMPUTERS}/part-file.ts`,
    find: '    remove();\n  }\n};',
    replace: '  }\n};',
    test: 'apps/cli/src/computer-copy.spec.ts',
    title: 'leaves no file behind that is not whole',
  },
  {
    guarantee: 'A computer is deleted only after a yes.',
    file: 'apps/cli/src/confirm.ts',
    find: 'if (yes === true) return;',
    replace: 'if (yes === true || interactive === undefined) return;',
    test: 'apps/cli/src/computers.spec.ts',
    title: 'is deleted without a question only with --yes',
  },
  {
    guarantee: 'No image is written to a terminal that cannot show it.',
    file: `${COMPUTERS}/inline-image.ts`,
    find: "if (present(env['TMUX']) || present(env['STY'])) return undefined;",
    replace: '',
    test: 'apps/cli/src/computer-actions.spec.ts',
    title: 'is not requested for a terminal that cannot show it',
  },
  {
    guarantee: 'A set-up of desktops installs nothing where only root can.',
    file: `${COMPUTERS}/desktop-setup.plan.ts`,
    find: 'if (isRoot) return',
    replace: 'if (isRoot || missing.length > 0) return',
    test: `${COMPUTERS}/desktop-setup.plan.spec.ts`,
    title: 'says what to run as root',
  },
  {
    guarantee: 'The example does nothing that a person has not acknowledged.',
    file: 'docs/examples/computer-loop/loop.mjs',
    find: "if (answer !== 'y') throw",
    replace: "if (answer === '') throw",
    test: 'apps/standalone/src/e2e/computer-loop.int-spec.ts',
    title: 'does nothing of an item whose checks the person does not acknowledge',
  },
];
