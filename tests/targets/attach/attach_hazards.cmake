target_link_options(target_attach_hazards PRIVATE -Wl,-z,now)  # all that it calls by stands in what it seals
