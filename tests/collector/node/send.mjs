// One run with a log record and metrics, by the stock JSON exporters; writes its trace id and span ids.
import { SpanStatusCode, context, trace } from "@opentelemetry/api";
import { SeverityNumber } from "@opentelemetry/api-logs";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const failures = [];

// The stock exporter as it is; what it makes of each answer is kept.
function watched(exporter) {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, done) =>
    send(items, (result) => {
      if (result.code !== 0) failures.push(String(result.error));
      done(result);
    });
  return exporter;
}

const exporting = (path) => ({
  url: `${process.env.URL}${path}`,
  headers: { "x-api-key": process.env.KEY },
  compression: process.env.COMPRESSION,
});
const resource = resourceFromAttributes({ "service.name": "stock-node" });
const tracers = new NodeTracerProvider({
  resource,
  spanProcessors: [new BatchSpanProcessor(watched(new OTLPTraceExporter(exporting("/v1/traces"))))],
});
tracers.register();
const loggers = new LoggerProvider({
  resource,
  processors: [new BatchLogRecordProcessor({ exporter: watched(new OTLPLogExporter(exporting("/v1/logs"))) })],
});
const meters = new MeterProvider({
  resource,
  readers: [
    new PeriodicExportingMetricReader({
      exporter: watched(new OTLPMetricExporter(exporting("/v1/metrics"))),
      exportIntervalMillis: 3_600_000,
      exportTimeoutMillis: 10_000,
    }),
  ],
});

const tracer = tracers.getTracer("tests", "1.0");
const root = tracer.startSpan("invoke_agent node-bot", {
  attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "node-bot" },
});
const inside = trace.setSpan(context.active(), root);
const chat = tracer.startSpan(
  "chat",
  {
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "m",
      text: "é\0☃ \ud83d\ude00",
      lone: "\ud83d!",
      whole: Number.MAX_SAFE_INTEGER,
      beyond: 2 ** 60,
      half: 0.1 + 0.2,
      flag: false,
      list: ["a", "b"],
      numbers: [1, 2.5],
    },
  },
  inside,
);
chat.addEvent("token", { n: 1 });
chat.addLink({ context: root.spanContext() });
chat.setStatus({ code: SpanStatusCode.ERROR, message: "broken" });
const logger = loggers.getLogger("tests");
const said = (eventName, body) =>
  logger.emit({ eventName, body, severityNumber: SeverityNumber.INFO, context: trace.setSpan(inside, chat) });
said("gen_ai.user.message", { content: "the ask" });
said("gen_ai.choice", { index: 0, message: { content: "the answer" } });
chat.end();
root.end();
const meter = meters.getMeter("tests");
meter.createCounter("calls").add(3, { to: "node" });
meter.createHistogram("seconds").record(0.25);
meter.createUpDownCounter("open").add(-1);

// What could not be sent is among the failures.
await Promise.allSettled([tracers.shutdown(), loggers.shutdown(), meters.shutdown()]);
console.log(JSON.stringify({ trace: root.spanContext().traceId, chat: chat.spanContext().spanId, failures }));
