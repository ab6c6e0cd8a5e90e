// The stock OpenTelemetry set-up; only the endpoint and the key are While's.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const exporter = new OTLPTraceExporter({
  url: `${process.env.WHILEAI_API_URL ?? "http://127.0.0.1:4318"}/v1/traces`,
  headers: { "x-api-key": process.env.WHILEAI_API_KEY },
});

export const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();
