import { describe, expect, it } from 'vitest';
import { planStart as planStartOn, type TopFiles } from './starts-with.plan.js';

const files = (given: Readonly<Record<string, unknown>>): TopFiles => {
  const textOf = (name: string): string | null => {
    const content = given[name];
    if (content === undefined) return null;
    return typeof content === 'string' ? content : JSON.stringify(content);
  };
  return {
    names: new Set(Object.keys(given)),
    berthJson: textOf('berth.json'),
    packageJson: textOf('package.json'),
  };
};
const planStart = (given: TopFiles) => planStartOn(given, null);
const node = { 'package.json': { scripts: { start: 'node main.js' } } };

describe('how a repository starts', () => {
  it('is defined by its berth.json, whatever other files it has', () => {
    expect(
      planStart(
        files({ ...node, Dockerfile: '', 'berth.json': { build: 'make', start: './run', env: { A: '1' } } }),
      ),
    ).toEqual({ build: ['make'], start: './run', env: { A: '1' } });
    expect(planStart(files({ 'berth.json': { start: './run' } }))).toEqual({
      build: [],
      start: './run',
      env: {},
    });
  });

  it('sets no variable that is only Berth’s to set', () => {
    const env = { PORT: '80', BERTH_AGENT_ID: 'x', PORTS: '81' };
    expect(planStart(files({ 'berth.json': { start: 'x', env } }))).toMatchObject({ env: { PORTS: '81' } });
  });

  it.each([
    ['text', 'start: x'],
    ['a list', '[]'],
    ['nothing', ''],
    ['no start', { build: 'make' }],
    ['an empty start', { start: ' ' }],
    ['a start that is no text', { start: ['node'] }],
    ['a build that is no text', { start: 'x', build: 1 }],
    ['variables that are no object', { start: 'x', env: ['A=1'] }],
    ['a variable that is no text', { start: 'x', env: { A: 1 } }],
    ['a variable with a bad name', { start: 'x', env: { 'A-B': '1' } }],
    ['a NUL character', { start: 'x\0' }],
  ])('is unknown with a berth.json of %s, although a package.json says it', (_, content) => {
    expect(planStart(files({ ...node, 'berth.json': content }))).toEqual({
      refusal: expect.stringContaining('berth.json') as string,
    });
  });

  it('is its Dockerfile, rather than a package.json', () => {
    expect(planStart(files({ ...node, Dockerfile: 'FROM scratch' }))).toEqual({ dockerfile: true });
  });

  it('is unknown with a Dockerfile on a host that builds no Dockerfiles, with the reason of the host', () => {
    const reason = 'No BuildKit.';
    expect(planStartOn(files({ ...node, Dockerfile: '' }), reason)).toEqual({ refusal: reason });
    expect(planStartOn(files({ 'berth.json': { start: 'x' }, Dockerfile: '' }), reason)).toMatchObject({
      start: 'x',
    });
  });

  it('is npm’s, with the exact packages if they are locked', () => {
    expect(planStart(files(node))).toMatchObject({
      build: ['npm install', 'npm run build --if-present'],
      start: 'npm start',
    });
    expect(planStart(files({ ...node, 'package-lock.json': '{}' }))).toMatchObject({
      build: ['npm ci', 'npm run build --if-present'],
    });
  });

  it('is Python’s without a start script, in an environment of its own', () => {
    const python = { 'package.json': { scripts: {} }, 'app.py': '', 'main.py': '' };
    expect(planStart(files({ ...python, 'requirements.txt': '' }))).toMatchObject({
      build: ['python3 -m venv --clear .venv', '.venv/bin/python -m pip install -r requirements.txt'],
      start: 'exec .venv/bin/python main.py',
    });
    expect(planStart(files({ 'app.py': '', 'pyproject.toml': '' }))).toMatchObject({
      start: 'exec .venv/bin/python app.py',
    });
  });

  it.each([
    ['nothing', {}],
    ['a Python program without its packages', { 'main.py': '' }],
    ['the packages of Python without a program', { 'requirements.txt': '' }],
    ['a broken package.json', { 'package.json': '{' }],
  ])('is unknown with %s', (_, content) =>
    expect(planStart(files(content))).toEqual({
      refusal: expect.stringContaining('no berth.json') as string,
    }),
  );
});
