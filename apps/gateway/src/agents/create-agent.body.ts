import { ApiProperty } from '@nestjs/swagger';
import type { Scope } from '@berth/contracts/accounts';
import { AGENT_LIMITS } from '@berth/contracts/agents';
import { IsOptional } from 'class-validator';
import { ENV_KEY, ENV_VALUE } from '../env/env-names.js';
import { EnvVarBody } from '../env/env-var.body.js';
import type { FieldProblem } from '../http/http-refusal.js';
import { isPlainObject } from '../validation/dto-validation.js';
import { Inside, type NestedRule } from '../validation/nested-rules.js';
import { IsText, IsWithin, listOf, objectOf, Obeys, textsByKey } from '../validation/rules.js';
import type { TextRule } from '../validation/text-rule.js';
import { textsByKeySchema } from '../validation/text-schema.js';
import {
  AGENT_NAME,
  EXTERNAL_ID,
  EXTERNAL_USER_ID,
  LABEL_NAME,
  LABEL_VALUE,
  MOST_LABELS,
} from './agent-names.js';

const LONGEST_IDLE_SECONDS = 604_800;
const SHORTEST_IDLE_SECONDS = 15;
const INSTRUCTIONS: TextRule = {
  min: 0,
  max: AGENT_LIMITS.instructionsBytes,
  maxBytes: AGENT_LIMITS.instructionsBytes,
};

/** Requested resources of an agent; absent members default to the template's. */
export class ResourcesBody {
  @ApiProperty({ type: 'integer', minimum: 128, maximum: 65_536, required: false, nullable: true })
  @IsOptional()
  @IsWithin(128, 65_536)
  readonly memMb?: number | null;

  @ApiProperty({ type: 'number', minimum: 0.1, maximum: 32, required: false, nullable: true })
  @IsOptional()
  @IsWithin(0.1, 32, 'number')
  readonly vcpus?: number | null;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1_024, required: false, nullable: true })
  @IsOptional()
  @IsWithin(1, 1_024)
  readonly diskGb?: number | null;
}

const idleProblem = (value: unknown): string | undefined => {
  const whole = typeof value === 'number' && Number.isInteger(value);
  const fits = whole && (value === 0 || (value >= SHORTEST_IDLE_SECONDS && value <= LONGEST_IDLE_SECONDS));
  return fits
    ? undefined
    : `must be 0, or a whole number from ${SHORTEST_IDLE_SECONDS} to ${LONGEST_IDLE_SECONDS}`;
};

/** Variables come as a list, or as an object of plain values. A body cannot hold more of them than an agent may. */
const envVars: NestedRule = (value, path) => {
  if (isPlainObject(value)) return textsByKey(AGENT_LIMITS.variables, ENV_KEY, ENV_VALUE)(value, path);
  const checked = listOf(EnvVarBody, AGENT_LIMITS.variables)(value, path);
  return { value: checked.value, problems: [...checked.problems, ...repeatedKeys(checked.value, path)] };
};

const repeatedKeys = (items: unknown, path: string): readonly FieldProblem[] => {
  if (!Array.isArray(items) || items.length > AGENT_LIMITS.variables) return [];
  const keys: readonly unknown[] = items.map((item: unknown) =>
    isPlainObject(item) ? item['key'] : undefined,
  );
  return keys.flatMap((key, index) => {
    const again = typeof key === 'string' && keys.indexOf(key) < index;
    return again ? [{ path: `${path}.${index}.key`, message: 'is given twice' }] : [];
  });
};

/** `POST /api/agents` */
export class CreateAgentBody {
  @ApiProperty({ description: 'Unique in the account.' })
  @IsText(AGENT_NAME)
  readonly name!: string;

  @ApiProperty({ description: 'From `GET /api/templates`.' })
  @IsText({ max: 128 })
  readonly templateId!: string;

  @ApiProperty({
    required: false,
    nullable: true,
    description: "The caller's own identifier, unique in the account. No control characters.",
  })
  @IsOptional()
  @IsText(EXTERNAL_ID)
  readonly externalId?: string | null;

  @ApiProperty({
    required: false,
    nullable: true,
    description: 'The end user who owns the agent. Needs the scope `manage` too.',
  })
  @IsOptional()
  @IsText(EXTERNAL_USER_ID)
  readonly externalUserId?: string | null;

  @ApiProperty({
    required: false,
    nullable: true,
    description: `At most ${INSTRUCTIONS.max} bytes of UTF-8.`,
  })
  @IsOptional()
  @IsText(INSTRUCTIONS)
  readonly instructions?: string | null;

  @ApiProperty({
    type: 'integer',
    required: false,
    nullable: true,
    minimum: 0,
    maximum: LONGEST_IDLE_SECONDS,
    description:
      'Seconds without activity until the agent sleeps: 0 (always on) or 15 to 604800. Default 900.',
  })
  @IsOptional()
  @Obeys('isIdleTtl', idleProblem)
  readonly idleTtlSeconds?: number | null;

  @ApiProperty({
    ...textsByKeySchema(MOST_LABELS, LABEL_NAME, LABEL_VALUE),
    selfRequired: false,
    nullable: true,
    description: 'At most 64; names of 1 to 64 letters, digits and `. _ / -`, values to 256 characters.',
  })
  @IsOptional()
  @Inside(textsByKey(MOST_LABELS, LABEL_NAME, LABEL_VALUE))
  readonly labels?: Readonly<Record<string, string>> | null;

  @ApiProperty({
    oneOf: [
      { type: 'array', items: { $ref: '#/components/schemas/EnvVarBody' }, maxItems: AGENT_LIMITS.variables },
      textsByKeySchema(AGENT_LIMITS.variables, ENV_KEY, ENV_VALUE),
    ],
    required: false,
    nullable: true,
    description: 'Environment variables: a list, or an object of values that are not secret.',
  })
  @IsOptional()
  @Inside(envVars)
  readonly env?: readonly EnvVarBody[] | Readonly<Record<string, string>> | null;

  @ApiProperty({ type: () => ResourcesBody, required: false, nullable: true })
  @IsOptional()
  @Inside(objectOf(ResourcesBody))
  readonly resources?: ResourcesBody | null;
}

/** Only callers that may manage end users create agents for them. */
export const scopesOfCreation = (body: unknown): readonly Scope[] =>
  isPlainObject(body) && body['externalUserId'] !== undefined && body['externalUserId'] !== null
    ? ['manage']
    : [];
