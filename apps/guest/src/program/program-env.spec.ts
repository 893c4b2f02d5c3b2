import type { PutProgram } from '@berth/guest-protocol';
import { describe, expect, it } from 'vitest';
import { programEnv } from './program-env.js';

describe('the environment of a program', () => {
  const of = (env: Record<string, string>): Record<string, string> =>
    programEnv(
      {
        agentId: 'agt_1',
        token: 't',
        volume: '/v',
        tmp: '/t',
        path: '/bin',
        instructions: null,
        env,
      } as unknown as PutProgram,
      { program: 4000, api: 5000 },
      { BERTH_AGENT_MARK: 'm' },
    );

  it('points unmodified SDKs at the metered route', () => {
    expect(of({})).toMatchObject({
      OPENAI_BASE_URL: 'http://127.0.0.1:5000/agent/v1/llm/openai/v1',
      OPENAI_API_KEY: 't',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:5000/agent/v1/llm/anthropic',
      ANTHROPIC_API_KEY: 't',
    });
  });

  it('leaves the owner’s own model settings alone, without mixing in ours', () => {
    const env = of({ OPENAI_API_KEY: 'sk-own' });
    expect(env['OPENAI_API_KEY']).toBe('sk-own');
    expect(env).not.toHaveProperty('OPENAI_BASE_URL');
    expect(env['ANTHROPIC_API_KEY']).toBe('t');
  });

  it('cannot override the variables that Berth relies on', () => {
    const forged = {
      PORT: '1',
      BERTH_AGENT_ID: 'x',
      BERTH_AGENT_TOKEN: 'x',
      BERTH_API_URL: 'x',
      BERTH_AGENT_MARK: 'x',
    };
    expect(of(forged)).toMatchObject({
      PORT: '4000',
      BERTH_AGENT_ID: 'agt_1',
      BERTH_AGENT_TOKEN: 't',
      BERTH_API_URL: 'http://127.0.0.1:5000',
      BERTH_AGENT_MARK: 'm',
    });
  });
});
