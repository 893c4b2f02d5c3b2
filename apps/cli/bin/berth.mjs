#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../dist/main.js', import.meta.url);
if (existsSync(program)) {
  await import(program);
} else {
  console.error(
    'The berth command is not built yet. In the repository, `npm run berth` builds it as needed.',
  );
  process.exitCode = 1;
}
