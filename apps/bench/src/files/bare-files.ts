import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../context.js';
import { BARE_FILES_SERVER } from '../paths.js';
import { childEnvironment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';
import { FileServer } from './file-server.js';

export interface BareFiles {
  readonly server: FileServer;
  /** Creates a folder with this many empty files. */
  readonly fill: (folder: string, entries: number) => void;
  readonly close: () => Promise<void>;
}

/** Starts the bare server on the same disk as Berth's volumes: both are below the folder of this run. */
export const startBareFiles = async (context: BenchContext): Promise<BareFiles> => {
  const root = context.file('bare-files');
  const { program, ready } = await ChildProgram.start({
    name: 'The bare files server',
    command: process.execPath,
    args: [BARE_FILES_SERVER, root],
    env: childEnvironment(context.env, {}),
    ready: /listening at (\S+)/,
  });
  const server = new FileServer(ready[1] ?? '', '', {});
  return {
    server,
    fill: (folder, entries) => {
      mkdirSync(join(root, folder));
      for (let index = 0; index < entries; index++) writeFileSync(join(root, folder, `file-${index}`), '');
    },
    close: async () => {
      await server.close();
      await program.stop();
    },
  };
};
