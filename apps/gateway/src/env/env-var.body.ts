import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';
import { IsText } from '../validation/rules.js';
import { ENV_KEY, ENV_VALUE } from './env-names.js';

/** `PUT /api/agents/{agent_id}/env/{key}` */
export class EnvValueBody {
  @ApiProperty({ description: 'Without NUL characters.' })
  @IsText(ENV_VALUE)
  readonly value!: string;

  @ApiProperty({
    type: 'boolean',
    required: false,
    nullable: true,
    description:
      'Secret values are encrypted at rest and read back as `********`. If absent, an existing variable keeps its setting and a new one is not secret.',
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  readonly isSecret?: boolean | null;

  @ApiProperty({
    type: 'boolean',
    required: false,
    nullable: true,
    description: 'Another name of `isSecret`.',
  })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  readonly secret?: boolean | null;
}

/** One variable in the body of an agent's creation. */
export class EnvVarBody extends EnvValueBody {
  @IsText(ENV_KEY)
  readonly key!: string;
}

/** `isSecret` wins; `secret` is the name client libraries use. Null when neither is given. */
export const isSecret = (body: EnvValueBody): boolean | null => body.isSecret ?? body.secret ?? null;
