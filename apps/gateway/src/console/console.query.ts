import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { FromQuery } from '../validation/nested-rules.js';
import { IsWithin } from '../validation/rules.js';

const MOST_CELLS = 1_000;

/** `GET /api/agents/{agent_id}/console` */
export class ConsoleQuery {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: MOST_CELLS, default: 80, required: false })
  @FromQuery('integer')
  @IsOptional()
  @IsWithin(1, MOST_CELLS)
  readonly cols: number = 80;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: MOST_CELLS, default: 24, required: false })
  @FromQuery('integer')
  @IsOptional()
  @IsWithin(1, MOST_CELLS)
  readonly rows: number = 24;
}
