import { text } from '@berth/contracts/schema';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { addDeclarationCheck, declarationProblem } from './declaration-check.js';
import type { RouteResource } from './resource.js';

const thing: RouteResource = { param: 'id', isId: () => true, notFound: () => new Error('no') };

describe('a route without a declaration', () => {
  it('cannot be registered', () => {
    const server = fastify();
    addDeclarationCheck(server);
    expect(() => server.get('/open', () => 'x')).toThrow('The route GET /open has no @Route declaration.');
    const config = { rules: { accepts: 'anyone', resources: [] } } as const;
    expect(() => server.get('/stated', { config }, () => 'x')).not.toThrow();
  });
});

describe('a declaration', () => {
  it('declares the resource of every path parameter, and nothing else', () => {
    expect(declarationProblem('/a/:id', { accepts: 'anyone', resources: [] })).toContain(':id');
    expect(declarationProblem('/a/:id', { accepts: 'anyone', resources: [thing] })).toBeUndefined();
    expect(
      declarationProblem('/a/:key', { accepts: 'anyone', resources: [], params: { key: text({ max: 9 }) } }),
    ).toBeUndefined();
    expect(declarationProblem('/a', { accepts: 'anyone', resources: [thing] })).toContain(':id');
  });

  it('accepts at least one credential', () => {
    expect(declarationProblem('/a', { accepts: {}, resources: [] })).toBe('accepts no credential');
  });

  it('allows ?token= only together with a kind of token', () => {
    const rules = { tokenInQuery: true, resources: [] };
    expect(declarationProblem('/a', { accepts: { key: 'read' }, ...rules })).toContain('?token=');
    expect(declarationProblem('/a', { accepts: 'anyone', ...rules })).toContain('?token=');
    expect(declarationProblem('/a', { accepts: { end_user: 'console' }, ...rules })).toBeUndefined();
  });
});
