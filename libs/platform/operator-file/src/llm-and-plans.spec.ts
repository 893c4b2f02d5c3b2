import { describe, expect, it } from 'vitest';
import { OperatorFileError, parseOperatorFile } from './index.js';

const faultOf = (text: string): string => {
  try {
    parseOperatorFile(text);
  } catch (error) {
    if (error instanceof OperatorFileError) return error.message;
  }
  return 'no fault';
};

const PROVIDER = '{ id: main, dialect: openai, baseUrl: "https://llm.example/v1", apiKeyEnv: UPSTREAM_KEY }';
const MODEL_MEMBERS =
  'name: m, provider: main, inputCentsPerMillion: 250, outputCentsPerMillion: 1000, contextTokens: 128000, maxOutputTokens: 16384';

const llm = (models: string, provider = PROVIDER): string =>
  `llm:\n  providers:\n    - ${provider}\n  models:\n    - ${models}\n`;
const providerWith = (members: string): string => llm(`{ ${MODEL_MEMBERS} }`, `{ ${members} }`);
const modelWith = (members: string): string => llm(`{ ${MODEL_MEMBERS}, ${members} }`);
const planOf = (members: string): string =>
  `plans:\n  - { id: default, hosting: metered }\n  - { ${members} }\n`;

describe('the section `llm`', () => {
  it('has no provider and no model if the file has none', () => {
    expect(parseOperatorFile('').llm).toEqual({ providers: [], models: [], defaultModel: null });
  });

  it('gives a model the provider it names, and exact rates in millionths of a cent', () => {
    const { llm: settings } = parseOperatorFile(
      `${modelWith('cachedInputCentsPerMillion: 125, cacheWriteCentsPerMillion: 312.5, reasoningCentsPerMillion: 0.000001, allowedBetas: [b-1], outputLimitMember: max_tokens')}  defaultModel: m\n`,
    );
    const provider = {
      id: 'main',
      dialect: 'openai',
      baseUrl: 'https://llm.example/v1',
      apiKeyEnv: 'UPSTREAM_KEY',
      insecure: false,
    };
    expect(settings.providers).toEqual([provider]);
    expect(settings.models).toEqual([
      {
        name: 'm',
        provider,
        rates: {
          input: 250_000_000n,
          cachedInput: 125_000_000n,
          cacheWrite: 312_500_000n,
          output: 1_000_000_000n,
          reasoning: 1n,
        },
        contextTokens: 128_000,
        maxOutputTokens: 16_384,
        outputLimitMember: 'max_tokens',
        allowedBetas: ['b-1'],
      },
    ]);
    expect(settings.defaultModel).toBe(settings.models[0]);
  });

  it('takes the rate of input or output where a model has no own rate', () => {
    const [model] = parseOperatorFile(llm(`{ ${MODEL_MEMBERS} }`)).llm.models;
    expect(model?.rates).toEqual({
      input: 250_000_000n,
      cachedInput: 250_000_000n,
      cacheWrite: 250_000_000n,
      output: 1_000_000_000n,
      reasoning: 1_000_000_000n,
    });
  });

  it('allows plain http for a provider that is insecure', () => {
    const text = providerWith(
      'id: main, dialect: anthropic, baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: KEY, insecure: true',
    );
    expect(parseOperatorFile(text).llm.providers[0]).toMatchObject({ dialect: 'anthropic', insecure: true });
  });

  const provider = (baseUrl: string): string =>
    providerWith(`id: main, dialect: openai, baseUrl: "${baseUrl}", apiKeyEnv: KEY`);

  it.each([
    [provider('https://llm.example/v2'), /^line 3: llm\.providers\[0\]\.baseUrl must /],
    [provider('https://llm.example/v1/'), /^line 3: llm\.providers\[0\]\.baseUrl must /],
    [provider('https://llm.example/v1?a=/v1'), /^line 3: llm\.providers\[0\]\.baseUrl must /],
    [provider('ftp://llm.example/v1'), /^line 3: llm\.providers\[0\]\.baseUrl must /],
    [
      provider('https://u:secret@llm.example/v1'),
      /^line 3: llm\.providers\[0\]\.baseUrl must be a URL without credentials that ends in \/v1$/,
    ],
    [
      provider('http://llm.example/v1'),
      /^line 3: llm\.providers\[0\]\.baseUrl must be https unless `insecure` is true$/,
    ],
    [
      providerWith('id: main, dialect: other, baseUrl: "https://a/v1", apiKeyEnv: KEY'),
      /^line 3: llm\.providers\[0\]\.dialect must be equal to one of/,
    ],
    [
      providerWith('id: main, dialect: openai, baseUrl: "https://a/v1", apiKeyEnv: KEY, apiKey: x'),
      /^line 3: llm\.providers\[0\]\.apiKey is not known$/,
    ],
    [
      providerWith('id: main, dialect: openai, baseUrl: "https://a/v1"'),
      /^line 3: llm\.providers\[0\] must have required properties apiKeyEnv$/,
    ],
    [
      `llm:\n  providers:\n    - ${PROVIDER}\n    - ${PROVIDER}\n`,
      /^line 4: llm\.providers\[1\]\.id must differ from the ones before$/,
    ],
    [
      `${llm(`{ ${MODEL_MEMBERS} }`)}    - { ${MODEL_MEMBERS} }\n`,
      /^line 6: llm\.models\[1\]\.name must differ from the ones before$/,
    ],
    [
      llm(`{ ${MODEL_MEMBERS.replace('main', 'other')} }`),
      /^line 5: llm\.models\[0\]\.provider must be the id of a provider$/,
    ],
    [modelWith('colour: blue'), /^line 5: llm\.models\[0\]\.colour is not known$/],
    [modelWith('cachedInputCentsPerMillion: -1'), /cachedInputCentsPerMillion must be >= 0$/],
    [modelWith('cachedInputCentsPerMillion: 1.0000001'), /cachedInputCentsPerMillion must have at most 6/],
    [modelWith('cachedInputCentsPerMillion: "12"'), /cachedInputCentsPerMillion must be number$/],
    [
      modelWith('cachedInputCentsPerMillion: 1.00000000000000000001'),
      /^line 5: llm\.models\[0\]\.cachedInputCentsPerMillion must have at most 6 decimals$/,
    ],
    [modelWith('cachedInputCentsPerMillion: 1000000001'), /must be <= 1000000000$/],
    [modelWith('cachedInputCentsPerMillion: .inf'), /cachedInputCentsPerMillion must be/],
    [llm(`{ ${MODEL_MEMBERS.replace('128000', '0')} }`), /llm\.models\[0\]\.contextTokens must be >= 1$/],
    [
      llm(`{ ${MODEL_MEMBERS.replace('16384', '1.5')} }`),
      /llm\.models\[0\]\.maxOutputTokens must be integer$/,
    ],
    ['llm:\n  defaultModel: none\n', /^line 2: llm\.defaultModel must be the name of a model$/],
    ['llm:\n  keys: []\n', /^line 2: llm\.keys is not known$/],
  ])('%j is a fault of a line and a member', (text, fault) => {
    expect(faultOf(text)).toMatch(fault);
  });
});

describe('the section `plans`', () => {
  it('is one free plan without limits and with every add-on, if the file has none', () => {
    const free = {
      id: 'default',
      hosting: { kind: 'metered', vcpuHour: 0n, memGbHour: 0n, diskGbMonth: 0n },
      maxAgents: null,
      addons: ['computers'],
    };
    expect(parseOperatorFile('').plans).toEqual([free]);
    expect(parseOperatorFile('runtime: { builds: 2 }').plans).toEqual([free]);
  });

  it('has metered plans with rates and plans with seats, and no add-on that is not named', () => {
    const { plans } = parseOperatorFile(
      'plans:\n' +
        '  - { id: default, hosting: metered, rates: { vcpuHourCents: 1.5, memGbHourCents: 0.25, diskGbMonthCents: 3 } }\n' +
        '  - { id: team, hosting: seat, priceCentsPerMonth: 20000, maxAgents: 50, addons: [computers] }\n',
    );
    expect(plans).toEqual([
      {
        id: 'default',
        hosting: { kind: 'metered', vcpuHour: 1_500_000n, memGbHour: 250_000n, diskGbMonth: 3_000_000n },
        maxAgents: null,
        addons: [],
      },
      {
        id: 'team',
        hosting: { kind: 'seat', pricePerMonth: 20_000_000_000n },
        maxAgents: 50,
        addons: ['computers'],
      },
    ]);
  });

  it.each([
    [
      planOf('id: a, hosting: free'),
      /^line 3: plans\[1\]\.hosting must be equal to one of the allowed values$/,
    ],
    [planOf('id: a'), /^line 3: plans\[1\] must have required properties hosting$/],
    [planOf('id: a, hosting: seat'), /^line 3: plans\[1\]\.hosting needs priceCentsPerMonth with seats$/],
    [
      planOf('id: a, hosting: metered, priceCentsPerMonth: 1'),
      /^line 3: plans\[1\]\.priceCentsPerMonth is only for plans with seats$/,
    ],
    [
      planOf('id: a, hosting: seat, priceCentsPerMonth: 1, rates: {}'),
      /^line 3: plans\[1\]\.rates is only for metered plans$/,
    ],
    [planOf('id: a, hosting: seat, priceCentsPerMonth: 0.1234567'), /must have at most 6 decimals$/],
    [planOf('id: a, hosting: metered, rates: { vcpuHour: 1 }'), /plans\[1\]\.rates\.vcpuHour is not known$/],
    [planOf('id: a, hosting: metered, rates: { vcpuHourCents: -0.5 }'), /vcpuHourCents must be >= 0$/],
    [planOf('id: a, hosting: metered, maxAgents: -1'), /^line 3: plans\[1\]\.maxAgents must be >= 0$/],
    [planOf('id: a, hosting: metered, addons: [boats]'), /^line 3: plans\[1\]\.addons\[0\] must be equal to/],
    [planOf('id: default, hosting: metered'), /^line 3: plans\[1\]\.id must differ from the ones before$/],
    ['plans:\n  - { id: team, hosting: metered }\n', /^line 2: plans must have one with the id default$/],
    ['plans: []\n', /^line 1: plans must have one with the id default$/],
    ['plans: {}\n', /^line 1: plans must be array$/],
  ])('%j is a fault of a line and a member', (text, fault) => {
    expect(faultOf(text)).toMatch(fault);
  });
});
