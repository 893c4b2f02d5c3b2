import type { BenchContext } from '../context.js';
import { run, type CommandLine } from '../peers/command-line.js';
import { findExecutable, usualFolders } from '../peers/executables.js';
import { childEnvironment } from '../programs/child-environment.js';
import type { BenchComputer } from './bench-computer.js';

/** What else acts on a display, by the Debian package that has it. */
const TOOLS = { scrot: 'scrot', import: 'imagemagick', xdotool: 'xdotool' } as const;
export type Tool = keyof typeof TOOLS;

/** The display of a computer, on which other programs act too. */
export class SharedDisplay {
  private constructor(private readonly tools: ReadonlyMap<Tool, CommandLine>) {}

  static async of(computer: BenchComputer, { env }: BenchContext): Promise<SharedDisplay> {
    const printed = await computer.run('printf "%s\\n" "$DISPLAY" "$XAUTHORITY"');
    const [DISPLAY = '', authority = ''] = printed.split('\n');
    // The computer may have mounts of its own, which its X server sees.
    const XAUTHORITY = `/proc/${await computer.serverPid()}/root${authority}`;
    const folders = usualFolders(env);
    const tools = new Map<Tool, CommandLine>();
    for (const tool of Object.keys(TOOLS) as Tool[]) {
      const command = findExecutable(tool, folders);
      if (command !== undefined)
        tools.set(tool, { command, args: [], env: childEnvironment(env, { DISPLAY, XAUTHORITY }) });
    }
    return new SharedDisplay(tools);
  }

  has(tool: Tool): boolean {
    return this.tools.has(tool);
  }

  /** The packages of tools that are not installed. */
  get missing(): readonly string[] {
    return (Object.keys(TOOLS) as Tool[]).filter((tool) => !this.has(tool)).map((tool) => TOOLS[tool]);
  }

  run(tool: Tool, ...args: readonly string[]): Promise<void> {
    const line = this.tools.get(tool);
    return line === undefined ? Promise.resolve() : run(line, ...args);
  }
}
