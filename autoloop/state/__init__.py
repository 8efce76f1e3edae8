"""What a traced function finds and leaves outside its arguments: read and written at every call.

The names of globals, closures, attributes and items are *places*. Before a trace the world that the function reaches is
walked (``reached``); arrays there become inputs of the graph, everything else is guarded (``guards``). After it the
places are compared (``changes``): what differs is written at every call, and the world is put back as it was.
"""
