import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { Obeys } from '../validation/rules.js';

/** Whether the path is valid is decided by the service, which has its own codes. */
export const IsPath = (): PropertyDecorator =>
  Obeys('isPath', (value) =>
    typeof value === 'string' && value !== '' && value.isWellFormed() ? undefined : 'must be a path',
  );

const IsPathOrEmpty = (): PropertyDecorator =>
  Obeys('isPathOrEmpty', (value) =>
    typeof value === 'string' && value.isWellFormed() ? undefined : 'must be a path',
  );

export const WITHIN_VOLUME = "Absolute below the agent's `root`, or relative to it.";

export class ListQuery {
  @ApiProperty({
    type: 'string',
    required: false,
    description: `${WITHIN_VOLUME} Default, also if empty: the volume.`,
  })
  @IsOptional()
  @IsPathOrEmpty()
  readonly path?: string;
}

export class DownloadQuery {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    description: 'Any absolute path inside the agent, or relative to `root`.',
  })
  @IsPath()
  readonly path!: string;
}

export class PathQuery {
  @ApiProperty({ type: 'string', minLength: 1, description: WITHIN_VOLUME })
  @IsPath()
  readonly path!: string;
}

export class PathBody {
  @ApiProperty({ type: 'string', minLength: 1, description: WITHIN_VOLUME })
  @IsPath()
  readonly path!: string;
}

export class MoveBody {
  @ApiProperty({ type: 'string', minLength: 1, description: WITHIN_VOLUME })
  @IsPath()
  readonly from!: string;

  @ApiProperty({ type: 'string', minLength: 1, description: WITHIN_VOLUME })
  @IsPath()
  readonly to!: string;
}
