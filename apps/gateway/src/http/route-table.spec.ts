import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.js';

const table = new RouteTable();
table.add('/api/agents', ['GET', 'HEAD']);
table.add('/api/agents', 'POST');
table.add('/api/agents/:agent_id/env/:key', 'PUT');
table.add('/api/agents/:agent_id/env/reload', 'POST');
table.add('/openapi.json', 'GET');

describe('the methods of a path', () => {
  it.each([
    ['/api/agents', ['GET', 'HEAD', 'POST']],
    ['/api/agents/agt_1/env/A', ['PUT']],
    ['/api/agents/agt_1/env/reload', ['POST', 'PUT']],
    ['/openapi.json', ['GET']],
    ['/openapi-json', []],
    ['/api/agents/', []],
    ['/api/agents/agt_1/env/', []],
    ['/api/agents/a/b/env/c', []],
    ['/', []],
  ])('%s accepts %j', (path, methods) => expect(table.methodsOf(path)).toEqual(methods));
});
