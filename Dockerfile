# The service in a container: OTLP on 4317 and 4318, everything it keeps under /data.

FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/whileai
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY dialects dialects
COPY instrumentation instrumentation
COPY client client
COPY registry registry
COPY ingest ingest
COPY collector collector
COPY query query
COPY server server
RUN /opt/whileai/bin/pip install -c constraints.txt '.[server]'

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home whileai && install -d -o whileai -g whileai -m 0700 /data
COPY --from=build /opt/whileai /opt/whileai
ENV PATH=/opt/whileai/bin:$PATH PYTHONUNBUFFERED=1 WHILEAI_HOME=/data WHILEAI_HOST=0.0.0.0
USER whileai
VOLUME /data
EXPOSE 4317 4318
# Not ready is not dead: an orchestrator restarts on /healthz and routes by this one.
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:4318/readyz', timeout=5)"]
# SIGTERM drains; give it 40 s (docker stop --time 40) before the engine kills.
STOPSIGNAL SIGTERM
ENTRYPOINT ["whileai"]
CMD ["serve"]
