import { EXECUTION_STATUSES, type ExecutionStatus } from '@berth/contracts/exec';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsOptional } from 'class-validator';
import { PageQuery } from '../http/page.query.js';
import { FromQuery } from '../validation/nested-rules.js';

/** `GET /api/agents/{agent_id}/exec` */
export class ListExecutionsQuery extends PageQuery {
  @ApiProperty({ enum: EXECUTION_STATUSES, required: false })
  @IsOptional()
  @IsIn(EXECUTION_STATUSES, { message: `must be one of ${EXECUTION_STATUSES.join(', ')}` })
  readonly status?: ExecutionStatus;
}

/** `GET /api/agents/{agent_id}/exec/{execution_id}/output` */
export class OutputQuery {
  @ApiProperty({
    type: 'boolean',
    default: false,
    required: false,
    description: 'Keep the response open and send new output until the execution is over.',
  })
  @FromQuery('boolean')
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  readonly follow: boolean = false;
}
